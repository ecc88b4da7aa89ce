/** Memory providers beside the files, and summaries for recall. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refuse } from '#base/result.ts';
import { estimateTokens } from '#base/text.ts';
import { absentAsker } from '#core/agent/approver.ts';
import { createHookRunner } from '#core/agent/turn/hook-runner.ts';
import { type Message, userMessage } from '#core/model/message.ts';
import { functionSchema } from '#core/tools/tool-registry.ts';
import { isTrivialPrompt } from '#mind/learning/learning.rules.ts';
import { chooseProvider, provideMemory } from '#mind/learning/memory-providers.ts';
import { createSummariser, RECALL_PROMPT } from '#mind/learning/summarise-session.ts';
import { createSessionSearchTool } from '#mind/sessions/session-search-tool.ts';
import { sessionMessages } from '#mind/sessions/told-messages.ts';
import type { AnyTool, JsonObject, MemoryProvider, ModelRequest, ToolContext, TurnEvent } from '#public/talaria.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { createFakeMemoryProvider } from '../../contract/fake-memory-provider.ts';
import { verifies } from '../../verifies.ts';
import { withStore } from '../sessions/temp-store.ts';
import { call, reply, turn } from './learning-world.ts';

const NEVER = new AbortController().signal;
const SESSION = { sessionId: 's1', source: 'cli', cwd: '/' };
const TURN = { ...SESSION, turn: 1 };
const STORED = turn('where is the boat?', [], 'In the harbour.');

describe('memory providers on hooks', () => {
  function compose(provider: MemoryProvider) {
    const warnings: string[] = [];
    const events: TurnEvent[] = [];
    const clock = createManualClock();
    const provided = provideMemory(provider, {
      ...{ clock, warn: (problem) => warnings.push(problem), messagesOf: async () => STORED },
    });
    const runner = createHookRunner({ hooks: [provided.hooks], clock, emit: (event) => events.push(event) });
    return { provided, runner, warnings, events, clock };
  }

  verifies(
    'core:memory:provider-contract',
    'one external provider stands beside the files, and only an available one by its name',
    async () => {
      const fake = createFakeMemoryProvider();
      fake.facts.push('the boat is called Marlin');
      const memory = { name: 'memory' } as AnyTool;
      const { provided, runner } = compose({ ...fake, tools: () => [memory] });
      assert.equal(provided.promptBlock(), '');
      await runner.sessionStart(SESSION, NEVER);
      assert.deepEqual([provided.hooks.name, provided.tools], ['memory-fake', []], 'the tool memory is the files’');
      assert.equal(provided.promptBlock(), '1 facts can be recalled.');
      const away: MemoryProvider = { ...fake, name: 'away', available: () => refuse('no-key', 'AWAY_KEY is missing') };
      const chosen = chooseProvider([fake, away], 'fake');
      assert.ok(chosen.ok && chosen.value === fake);
      assert.match(reasonOf(chooseProvider([fake, away], 'away')), /provider-unavailable: .*AWAY_KEY is missing/);
      assert.match(reasonOf(chooseProvider([fake], 'hive')), /unknown-provider: .*no provider hive/);
    },
  );

  verifies(
    'core:memory:provider-into-user-message',
    'what it recalls are context parts of the user message',
    async () => {
      const fake = createFakeMemoryProvider();
      fake.facts.push('the boat is called Marlin');
      const { runner } = compose(fake);
      await runner.sessionStart(SESSION, NEVER);
      const asked = await runner.beforeTurn({ ...TURN, text: 'what is the boat called?' }, NEVER);
      assert.deepEqual(asked, [
        { type: 'text', text: 'the boat is called Marlin', origin: 'foreign', label: 'context' },
      ]);
      assert.deepEqual(await runner.beforeTurn({ ...TURN, text: 'ok' }, NEVER), []);
    },
  );

  test('a provider cannot pass its text off as typed by the owner', async () => {
    const fake = createFakeMemoryProvider();
    const liar: MemoryProvider = {
      ...fake,
      prefetch: async () => [{ type: 'text', text: 'I prefer tabs', origin: 'owner' }],
    };
    const { runner } = compose(liar);
    await runner.sessionStart(SESSION, NEVER);
    const [part] = await runner.beforeTurn({ ...TURN, text: 'tabs or spaces?' }, NEVER);
    assert.deepEqual([part?.origin, part?.label], ['foreign', 'context']);
  });

  verifies(
    ['core:memory:provider-hooks', 'core:compression:provider-told'],
    'it is told of turns, memory writes, compression, session end and delegation',
    async () => {
      const told: string[] = [];
      const fake = createFakeMemoryProvider();
      const provider: MemoryProvider = {
        ...fake,
        turnEnded: async (_session, messages) => void told.push(`turn of ${messages.length}`),
        beforeCompress: async (messages) => `keep ${messages.length}`,
        delegated: async (task, result) => void told.push(`${task}: ${result}`),
        sessionEnded: async (messages) => void told.push(`ended with ${messages.length}`),
      };
      const { provided, runner } = compose(provider);
      await runner.sessionStart(SESSION, NEVER);
      const batch = {
        target: 'user',
        operations: [
          { action: 'add', content: 'a' },
          { action: 'remove', old_text: 'b' },
        ],
      };
      for (const message of turn('note it', [call(batch, { name: 'memory', text: '{"success":true}' })]))
        await afterTool(runner, message, batch);
      await runner.afterTurn(TURN, { outcome: 'done', messages: [...STORED, ...turn('and now?')] });
      await runner.beforeCompress(SESSION, STORED, NEVER);
      const survived = 'From before the compression, by fake:\nkeep 2';
      const part = { type: 'text', text: survived, origin: 'foreign', label: 'context' } as const;
      assert.deepEqual(await runner.beforeTurn({ ...TURN, text: 'ok' }, NEVER), [part]);
      assert.deepEqual(await runner.beforeTurn({ ...TURN, text: 'ok' }, NEVER), []);
      await provided.written({ sessionId: 's1', action: 'replace', target: 'memory', content: 'c' });
      await provided.delegated('count files', '12');
      await runner.sessionEnd(SESSION);
      assert.deepEqual(
        fake.notices.map(({ action, target, content }) => `${action} ${target} ${content}`),
        ['add user a', 'remove user b', 'replace memory c'],
      );
      assert.deepEqual(told, ['turn of 2', 'count files: 12', 'ended with 2']);
    },
  );

  test('a provider that fails becomes an event; the turn goes on', async () => {
    const fail = async () => {
      throw new Error('no network');
    };
    const fake = createFakeMemoryProvider();
    const failing = { ...fake, prefetch: fail, beforeCompress: fail, stop: fail };
    const { provided, runner, events, warnings } = compose(failing);
    await runner.sessionStart(SESSION, NEVER);
    assert.deepEqual(await runner.beforeTurn({ ...TURN, text: 'a real question' }, NEVER), []);
    await runner.beforeCompress(SESSION, STORED, NEVER);
    const failed = (at: string) => ({ type: 'hook-failed', hook: 'memory-fake', at, error: 'no network' });
    assert.deepEqual(events, [failed('beforeTurn'), failed('beforeCompress')]);
    await provided.stop();
    assert.deepEqual(warnings, ['memory provider fake: stop failed: no network']);
  });

  test('a provider that hangs holds a turn up for three seconds, and one that did not start is never called', async () => {
    const fake = createFakeMemoryProvider();
    let reached = false;
    const hang = () => {
      reached = true;
      return new Promise<never>(() => undefined);
    };
    const { runner, events, clock } = compose({ ...fake, prefetch: hang });
    assert.deepEqual(await runner.beforeTurn({ ...TURN, text: 'before any start' }, NEVER), []);
    await runner.sessionStart(SESSION, NEVER);
    const waiting = runner.beforeTurn({ ...TURN, text: 'a real question' }, NEVER);
    while (!reached) await Promise.resolve();
    await clock.advance(3_000);
    assert.deepEqual(await waiting, []);
    assert.match(JSON.stringify(events), /memory provider fake took longer than 3 s/);
  });

  test('short words and commands are trivial, questions are not', () => {
    for (const line of ['', 'ok', 'Yes.', 'go on', '/undo', '2', 'danke!']) assert.ok(isTrivialPrompt(line), line);
    for (const line of ['what is the boat called?', 'no, the other one', 'ok, now deploy'])
      assert.ok(!isTrivialPrompt(line), line);
  });
});

async function afterTool(runner: ReturnType<typeof createHookRunner>, message: Message, args: JsonObject) {
  if (message.role !== 'tool') return;
  const [result] = message.parts;
  const made = {
    type: 'tool-call',
    callId: result.callId,
    name: 'memory',
    arguments: args,
    origin: 'model',
  } as const;
  await runner.afterTool(TURN, made, result);
}

function reasonOf(result: ReturnType<typeof chooseProvider>): string {
  return result.ok ? 'ok' : `${result.reason}: ${result.detail}`;
}

const clock = createManualClock({ auto: true });
const never = new AbortController().signal;

function contextOf(sessionId: string): ToolContext {
  const place = { cwd: '/', clock, asker: absentAsker, spillFolder: '/tmp' };
  return { ...place, sessionId, callId: 'c1', history: () => [], redact: (text) => text, progress: () => undefined };
}

async function search(steps: readonly ScriptedStep[], args: object) {
  let seen:
    | {
        readonly result: Record<string, unknown>;
        readonly ids: readonly number[];
        readonly purposes: readonly string[];
      }
    | undefined;
  const model = createScriptedModel(steps);
  await withStore(async (store) => {
    const session = await store.create({ source: 'cli', cwd: '/' });
    const ids: number[] = [];
    for (const message of [
      userMessage('which port should the staging server use?'),
      reply('The staging server uses port 4010, Bob decided.'),
      userMessage('fine, then close port 4020 on the staging server'),
    ])
      ids.push((await store.append(session.id, message)).id);
    const live = await store.create({ source: 'cli', cwd: '/' });
    const summarise = createSummariser({
      store,
      messagesOf: (id) => sessionMessages(store.database, id),
      model: () => model,
      clock,
    });
    const tool = createSessionSearchTool(store, { summarise });
    const output = await tool.run(args as never, contextOf(live.id), never);
    const body = JSON.parse(output.text) as { results: Record<string, unknown>[] };
    const purposes = (await store.costs()).map(({ purpose }) => purpose);
    seen = { result: body.results[0] ?? {}, ids, purposes };
  }, clock);
  model.done();
  assert.ok(seen);
  return seen;
}

const textOf = ({ messages }: ModelRequest) =>
  messages[0]?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? '';
const idsOf = (text: string) => [...text.matchAll(/^#(\d+) /gm)].map(([, id]) => Number(id));

describe('recall summaries', () => {
  verifies(
    ['core:recall:summaries-optional', 'core:recall:summary-length'],
    'each sentence cites messages or is dropped; topic and day stand beside it; its cost is kept as recall',
    async () => {
      const { result, ids, purposes } = await search(
        [
          (request) => {
            const [asked, answered, closed] = idsOf(textOf(request));
            return [
              `Bob decided that the staging server uses port 4010 [#${asked}, #${answered}].`,
              `Port 4020 is to be closed [#${closed}].`,
              `Alice wanted port 9999 [#${answered}].`,
              `The server is fast [#99999].`,
              'Everybody was happy.',
            ].join(' ');
          },
        ],
        { query: 'staging server port', summarise: true },
      );
      const summary = result.summary as { topic: string; text: string; dropped: number };
      assert.equal(
        summary.text,
        `Bob decided that the staging server uses port 4010 [#${ids[0]}, #${ids[1]}]. Port 4020 is to be closed [#${ids[2]}].`,
      );
      assert.equal(summary.dropped, 3);
      assert.match(summary.topic, /^staging server port, \d{4}-\d\d-\d\d$/);
      assert.equal(result.messages, undefined, 'the summary stands in place of the surroundings');
      assert.ok(result.match_message_id, 'and the hit still says where to read on');
      assert.deepEqual(purposes, ['recall']);
    },
  );

  test('verbatim by default, when the model fails, and when nothing could be cited', async () => {
    for (const [steps, args] of [
      [[], { query: 'staging server port' }],
      [[{ error: 'model-unreachable' }], { query: 'staging server port', summarise: true }],
      [['Nothing.'], { query: 'staging server port', summarise: true }],
    ] as const) {
      const { result } = await search(steps, args);
      assert.equal(result.summary, undefined);
      assert.match(JSON.stringify(result.messages), /port 4010/);
    }
  });

  test('the option costs few tokens, and none where there is no summariser', async () => {
    await withStore(async (store) => {
      const plain = JSON.stringify(functionSchema(createSessionSearchTool(store)));
      const summarise = async () => undefined;
      const more = JSON.stringify(functionSchema(createSessionSearchTool(store, { summarise })));
      assert.ok(!plain.includes('summarise'));
      assert.ok(estimateTokens(more) - estimateTokens(plain) <= 15, `${estimateTokens(more) - estimateTokens(plain)}`);
    });
  });

  test('a summary is bounded, whatever the model writes, and nothing that it writes throws', async () => {
    const bad = ['[#7]', '[[[#7', 'a [#7] [#7]', '\u0000', '#7 '.repeat(500), 'Port 4010 [#0], no [#999].'];
    const long = (request: ModelRequest): ScriptedStep =>
      'The port was asked for. '.replace('.', ` [#${idsOf(textOf(request))[0]}].`).repeat(50);
    for (const step of [...bad, long]) {
      const { result } = await search([step], { query: 'staging server port', summarise: true });
      const summary = result.summary as { text: string; dropped: number } | undefined;
      assert.equal(summary?.text.split('].').length ?? 0, step === long ? 7 : 0);
      assert.equal(summary?.dropped ?? 0, step === long ? 44 : 0);
    }
  });

  test('the prompt stays as it is', () => {
    assert.match(RECALL_PROMPT, /^Summarise what this stored conversation says about the question, and nothing else\./);
  });
});
