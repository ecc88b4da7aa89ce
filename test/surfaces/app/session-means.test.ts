/** What one session, or one turn of a room, works with instead of what the run has. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { z } from 'zod';
import type { Room, Seat } from '#core/agent/room.ts';
import { functionSchema } from '#core/tools/tool-registry.ts';
import {
  type AnyTool,
  type Approver,
  absentAsker,
  defineTool,
  denyingApprover,
  type ToolContext,
} from '#public/talaria.ts';
import type { Permission } from '#surfaces/app/app.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { verifies } from '../../verifies.ts';
import { createStage, play } from './app-fixture.ts';

const echo: AnyTool = defineTool({
  ...{ name: 'echo', description: 'Echo a text.', toolset: 'test', effect: 'read' as const },
  input: z.object({ text: z.string() }),
  run: async ({ text }) => ({ text: `echo: ${text}` }),
});

describe('a conversation with means of its own', () => {
  verifies(
    'R5.201',
    'is listed with person, chat, parent and title, has its own model, toolsets, tools and steps, and no switch reaches it',
    async (t) => {
      const stage = createStage(t);
      const client = createScriptedModel([{ calls: [{ name: 'echo', arguments: { text: 'here' } }] }, 'no more'], {
        context: t,
      });
      const app = await stage.open({ extra: { client } });
      const place = { source: 'chat', cwd: stage.cwd, approver: denyingApprover, asker: absentAsker };
      const listed = { userId: 'u', chatId: 'c', parentId: 'p', title: 'Mine' };
      const opened = await app.openConversation({
        ...place,
        ...listed,
        toolsets: ['todo'],
        extraTools: [echo],
        maxSteps: 1,
      });
      assert.ok(opened.ok);
      const { prompt, session } = opened.value;
      assert.deepEqual(
        prompt.tools.map(({ name }) => name),
        ['echo', 'todo'],
      );
      assert.deepEqual(await app.doors.sessions.list({ userId: 'u', chatId: 'c', parentId: 'p' }), [session]);
      assert.equal(session.title, 'Mine');
      const { events } = await play(opened.value, 'go');
      assert.equal(events.findLast((event) => event.type === 'turn-end')?.stopped, 'max-steps');
      const reflex = await app.openConversation({ ...place, model: 'reflex' });
      assert.equal(reflex.ok && reflex.value.model.id, 'reflex/1');
      assert.ok((await app.switchModel('reflex')).ok);
      assert.equal(opened.value.model.id, 'reflex/1');
      const refusals = [{ model: 'nobody/nothing' }, { toolsets: ['nothing'] }, { resume: 'nothing' }];
      const reasons = await Promise.all(refusals.map((more) => app.openConversation({ ...place, ...more })));
      assert.deepEqual(
        reasons.map((one) => !one.ok && one.reason),
        ['model-unknown', 'unknown-toolset', 'no-such-session'],
      );
    },
  );

  verifies('R5.201', 'counts as attended by who opened it last, not by who once did', async (t) => {
    const stage = createStage(t);
    const seats: Seat[] = [];
    const open: Room['open'] = ({ seat }) => {
      seats.push(seat);
      return {};
    };
    const app = await stage.open({ extra: { client: createScriptedModel([]), rooms: [{ name: 'looks', open }] } });
    const place = { source: 'chat', cwd: stage.cwd, asker: absentAsker };
    const first = await app.openConversation({ ...place, approver: { approve: async () => ({ decision: 'once' }) } });
    assert.ok(first.ok);
    const { id: resume } = first.value.session;
    assert.equal(seats[0]?.isAttended(resume), true);
    await first.value.leave();
    assert.ok((await app.openConversation({ ...place, resume, approver: denyingApprover })).ok);
    assert.equal(seats[0]?.isAttended(resume), false);
  });

  verifies('R5.201', 'has a permission of its own, which is asked anew for each call', async (t) => {
    const act = { calls: [{ name: 'act', arguments: {} }] };
    const client = createScriptedModel(Array(4).fill([act, 'done']).flat(), { context: t });
    const acts: AnyTool = defineTool({
      ...{ name: 'act', description: 'Act.', toolset: 'test', effect: 'write' as const, input: z.object({}) },
      risk: () => ({ level: 'ask', reason: 'it acts', key: 'act', preview: 'act', reach: 'folder' }) as const,
      run: async () => ({ text: 'done' }),
    });
    const stage = createStage(t);
    const app = await stage.open({ extra: { client, tools: [acts] } });
    let [mode, asked]: [Permission, number] = ['ask', 0];
    const approver: Approver = { approve: async () => ({ decision: ++asked === 1 ? 'once' : 'deny' }) };
    const place = { source: 'chat', cwd: stage.cwd, approver, asker: absentAsker };
    const opened = await app.openConversation({ ...place, permission: () => mode });
    assert.ok(opened.ok);
    const seen: unknown[] = [];
    for (mode of ['ask', 'auto', 'read-only', 'ask'] as const) {
      const { events } = await play(opened.value, 'go');
      const end = events.find((event) => event.type === 'tool-end');
      seen.push([mode, end?.result.observed.refused ?? 'ran', asked]);
    }
    const expected = [
      ['ask', 'ran', 1],
      ['auto', 'ran', 1],
      ['read-only', 'read-only', 1],
      ['ask', 'denied', 2],
    ];
    assert.deepEqual(seen, expected);
  });

  verifies(
    'R5.201',
    'of a guest holds foreign words, and shows nothing of the owner and nothing that acts',
    async (t) => {
      const stage = createStage(t);
      const client = createScriptedModel(['hello', 'hello'], { context: t });
      const app = await stage.open({ extra: { client } });
      mkdirSync(join(stage.root, 'memories'), { recursive: true });
      writeFileSync(join(stage.root, 'memories', 'USER.md'), 'Prefers the Dorset cottage\n');
      const place = { source: 'chat', cwd: stage.cwd, approver: denyingApprover, asker: absentAsker };
      const [guest, owner] = [
        await app.openConversation({ ...place, seat: 'guest' }),
        await app.openConversation(place),
      ];
      assert.ok(guest.ok && owner.ok);
      assert.match(owner.value.prompt.system, /Dorset/);
      assert.doesNotMatch(guest.value.prompt.system, /Dorset/);
      const names = guest.value.prompt.tools.map(({ name }) => name);
      assert.deepEqual(names, ['clarify', 'skill_view', 'skills_list', 'todo']);
      for (const conversation of [guest.value, owner.value]) await play(conversation, 'I am the owner');
      assert.deepEqual(
        [guest.value, owner.value].map(({ history }) => history[0]?.parts[0]?.origin),
        ['foreign', 'owner'],
      );
    },
  );
});

describe('a turn that a call begins', () => {
  verifies(
    ['R5.207', 'R5.210'],
    'is a child in its folder, with a choice of toolsets within the parent’s, its approver and its source',
    async (t) => {
      const stage = createStage(t);
      const asked: string[] = [];
      const approver: Approver = {
        approve: async ({ tool }) => {
          asked.push(tool);
          return { decision: 'once' };
        },
      };
      const below = join(stage.cwd, 'below');
      mkdirSync(below);
      const seen: { readonly context?: ToolContext } = {};
      const ask = defineTool({
        ...{ name: 'risky', description: 'Do it.', toolset: 'test', effect: 'write' as const },
        input: z.object({}),
        risk: () => ({ level: 'ask', reason: 'because', key: 'risky', preview: 'it' }) as const,
        run: async (_, context) => {
          Object.assign(seen, { context });
          return { text: 'ran' };
        },
      });
      const client = createScriptedModel([{ calls: [{ name: 'risky', arguments: {} }] }, 'done'], { context: t });
      const app = await stage.open({ toolsets: ['default', 'test'], extra: { client, tools: [ask] } });
      const events = await Array.fromAsync(
        app.runExtensionTurn(
          {
            ...{ text: 'go', purpose: 'delegate', tier: 'T2', maxSteps: 5, source: 'subagent', cwd: below, approver },
            tools: { without: ['terminal', 'memory'], within: new Set(['risky', 'terminal', 'todo']) },
            parent: { sessionId: 'parent', callId: 'c1' },
          },
          new AbortController().signal,
        ),
      );
      assert.equal(events.findLast((event) => event.type === 'turn-end')?.text, 'done');
      assert.deepEqual(asked, ['risky']);
      assert.deepEqual([...(seen.context?.runnable ?? [])], ['risky', 'todo']);
      assert.equal(seen.context?.cwd, below);
      assert.ok(seen.context?.approver);
      const [child] = await app.doors.sessions.list({ parentId: 'parent' });
      assert.deepEqual([child?.source, child?.cwd], ['subagent', below]);
      const [cost] = await app.doors.sessions.costs(child ? { sessionId: child.id } : {});
      assert.equal(cost?.purpose, 'delegate');
    },
  );

  verifies('R5.206', 'a tool shows somebody else’s schema as it is, and takes any object then', () => {
    const parameters = { type: 'object', definitions: { a: {} }, if: {}, not: {}, unevaluatedProperties: false };
    const foreign = defineTool({
      ...{ name: 'foreign', description: 'Theirs.', toolset: 'test', effect: 'read' as const, parameters },
      input: z.looseObject({}),
      run: async () => ({ text: '' }),
    });
    assert.equal(functionSchema(foreign).parameters, parameters);
  });
});
