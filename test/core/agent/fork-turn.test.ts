/** A turn beside a conversation: the same prefix, other tools, nothing of it stored but what it cost. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { errorCode } from '#base/errors.ts';
import { absentAsker, denyingApprover } from '#core/agent/approver.ts';
import { createForkTurn, type ForkRequest } from '#core/agent/conversation.ts';
import type { SessionStore } from '#core/agent/session-store.ts';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import { type Message, userMessage } from '#core/model/message.ts';
import type { TurnEvent } from '#public/talaria.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createScriptedModel, type ScriptedModel } from '#testing/scripted-model.ts';
import { tempSessionStore } from '../../doubles/temp-stores.ts';
import { echoTool, schemaOf, unansweredCalls } from './turn-fixture.ts';

const signal = new AbortController().signal;
const clock = createManualClock();

interface World {
  readonly store: SessionStore;
  readonly sessionId: string;
  readonly ran: string[];
  fork(model: ScriptedModel, request?: Partial<ForkRequest>): Promise<readonly TurnEvent[]>;
}

const SAID: readonly Message[] = [
  userMessage('remember that I like tea'),
  { role: 'assistant', model: 'a/b', parts: [{ type: 'text', text: 'I will.', origin: 'model' }] },
];

/** Proposes where the session's tool of this name would write; it also needs an approval, which nobody gives. */
function proposingTool(proposed: string[], risky = false): AnyTool {
  return defineTool({
    name: 'echo',
    description: 'Propose.',
    input: z.object({ text: z.string(), evidence: z.string().optional() }),
    toolset: 'test',
    effect: 'write',
    ...(risky ? { risk: () => ({ level: 'ask', reason: 'risky', key: 'k', preview: 'p' }) as const } : {}),
    run: async ({ text, evidence }) => {
      proposed.push(`${text} by ${evidence}`);
      return { text: 'proposed' };
    },
  });
}

async function newWorld(messages: readonly Message[] = SAID): Promise<World> {
  const store = tempSessionStore(clock);
  const session = await store.create({ source: 'test', cwd: tmpdir() });
  for (const message of messages) await store.append(session.id, message);
  const ran: string[] = [];
  const tools = [echoTool(ran), { ...echoTool(ran), name: 'other' }];
  await store.savePrompt(session.id, { system: 'frozen', tools: tools.map(schemaOf) });
  const place = { cwd: '/elsewhere', clock, asker: absentAsker, spillFolder: tmpdir(), redact: hideKey };
  const access = { tools: new Map(tools.map((tool) => [tool.name, tool])), approver: denyingApprover };
  return {
    store,
    sessionId: session.id,
    ran,
    fork: (model, request) =>
      Array.fromAsync(
        createForkTurn({ store, model: () => model, machine: { clock, place, access } })(
          { sessionId: session.id, text: 'review it', purpose: 'review', runnable: new Map(), maxSteps: 4, ...request },
          signal,
        ),
      ),
  };
}

function hideKey(text: string): string {
  return text.replaceAll('sk-secret', '[hidden]');
}

describe('a forked turn', () => {
  test('sends the stored prefix as it is, and its own text behind it', async (t) => {
    const world = await newWorld();
    const model = createScriptedModel(['nothing to keep'], { context: t });
    const events = await world.fork(model);
    const prompt = await world.store.loadPrompt(world.sessionId);
    const [request] = model.requests;
    assert.equal(JSON.stringify([request?.system, request?.tools]), JSON.stringify([prompt?.system, prompt?.tools]));
    assert.deepEqual(request?.messages.slice(0, 2), SAID);
    const asked = request?.messages.at(-1);
    assert.deepEqual(asked?.parts, [{ type: 'text', text: 'review it', origin: 'model' }]);
    assert.equal(request?.purpose, 'review');
    assert.equal(request?.sessionId, world.sessionId);
    assert.equal(events.filter((event) => event.type === 'turn-end').length, 1);
    assert.equal(events.at(-1)?.type, 'turn-end');
  });

  test('runs the tools it was given in place of the session’s, and no other', async (t) => {
    const world = await newWorld();
    const proposed: string[] = [];
    const calls = [
      { name: 'echo', arguments: { text: 'tea', evidence: 'message:1 sk-secret' } },
      { name: 'other', arguments: { text: 'x' } },
      { name: 'unheard_of', arguments: {} },
    ];
    const model = createScriptedModel([{ calls }, 'done'], { context: t });
    const events = await world.fork(model, { runnable: new Map([['echo', proposingTool(proposed)]]) });
    assert.deepEqual(proposed, ['tea by message:1 sk-secret']);
    assert.doesNotMatch(JSON.stringify(model.requests.at(-1)), /sk-secret/);
    assert.deepEqual(world.ran, []);
    const refused = events.flatMap((event) => (event.type === 'tool-end' ? [event.result.observed.refused] : []));
    assert.deepEqual(refused, [undefined, 'tool-not-allowed', 'unknown-tool']);
  });

  test('what it says is in no history; ids are negative; time and cost stay with the session', async (t) => {
    const world = await newWorld();
    const model = createScriptedModel([{ calls: [{ name: 'echo', arguments: { text: 'x' } }] }, 'done'], {
      context: t,
      cost: 0.25,
    });
    const before = await world.store.messages(world.sessionId);
    const record = await world.store.get(world.sessionId);
    const events = await world.fork(model);
    assert.deepEqual(await world.store.messages(world.sessionId), before);
    assert.deepEqual(await world.store.get(world.sessionId), record);
    const ids = events.flatMap((event) => (event.type === 'message' ? [event.messageId] : []));
    assert.deepEqual(ids, [-1, -2, -3, -4]);
    const [cost] = await world.store.costs({ sessionId: world.sessionId });
    assert.deepEqual([cost?.purpose, cost?.calls, cost?.cost], ['review', 2, 0.5]);
    const roots = (await world.store.spans(world.sessionId)).filter((span) => span.kind === 'turn');
    assert.deepEqual(
      roots.map((span) => span.name),
      ['review in turn 1'],
    );
  });

  test('nobody approves in a fork, and it ends after its steps', async (t) => {
    const world = await newWorld();
    const again = { calls: [{ name: 'echo', arguments: { text: 'x' } }] };
    const model = createScriptedModel([again, again], { context: t });
    const events = await world.fork(model, {
      runnable: new Map([['echo', proposingTool([], true)]]),
      maxSteps: 2,
    });
    const end = events.at(-1);
    assert.deepEqual(end?.type === 'turn-end' && [end.outcome, end.stopped], ['stopped', 'max-steps']);
    const refused = events.flatMap((event) => (event.type === 'tool-end' ? [event.result.observed.refused] : []));
    assert.deepEqual(refused, ['denied', 'denied']);
  });

  test('a snapshot of a turn under way is made legal; another model gets the digest it was given', async (t) => {
    const call = { type: 'tool-call', callId: 'c1', name: 'echo', arguments: {}, origin: 'model' } as const;
    const world = await newWorld([...SAID, userMessage('go'), { role: 'assistant', model: 'a/b', parts: [call] }]);
    const model = createScriptedModel(['seen'], { context: t });
    await world.fork(model);
    assert.deepEqual(unansweredCalls(model.requests[0]?.messages ?? []), []);
    const small = createScriptedModel(['short'], { context: t });
    await world.fork(createScriptedModel([]), { model: small, messages: [userMessage('a digest')] });
    assert.equal(small.requests[0]?.messages.length, 2);
  });

  test('an unknown session is an error with its code', async () => {
    const world = await newWorld();
    await assert.rejects(
      world.fork(createScriptedModel([]), { sessionId: '20200101_000000_abcdef' }),
      (error) => errorCode(error) === 'no-such-session',
    );
  });
});
