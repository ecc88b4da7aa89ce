// Memory providers on the agent's hooks: what reaches them, what reaches the turn, and that none of them can break one.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { refuse } from '#base/result.ts';
import { createHookRunner } from '#core/agent/turn/hook-runner.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { Message } from '#core/model/message.ts';
import { chooseProvider, composeProviders } from '#mind/learning/provider/compose-providers.ts';
import { isTrivialPrompt } from '#mind/learning/provider/trivial-prompt.ts';
import { createFilesProvider } from '#mind/memory/files-provider.ts';
import { createMemoryFiles } from '#mind/memory/memory-files.ts';
import type { MemoryProvider } from '#mind/memory/memory-provider.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { createFakeMemoryProvider } from '../../../contract/fake-memory-provider.ts';
import { verifies } from '../../../verifies.ts';
import { call, turn } from '../conversation-builder.ts';

const NEVER = new AbortController().signal;
const SESSION = { sessionId: 's1', source: 'cli', cwd: '/' };
const TURN = { ...SESSION, turn: 1 };
const STORED = turn('where is the boat?', [], 'In the harbour.');

describe('memory providers on hooks', () => {
  const homes: string[] = [];
  after(() => {
    for (const home of homes) rmSync(home, { recursive: true, force: true });
  });

  function compose(external?: MemoryProvider) {
    const root = createTempHome().path;
    homes.push(root);
    const warnings: string[] = [];
    const events: TurnEvent[] = [];
    const clock = createManualClock();
    const providers = composeProviders(createFilesProvider(createMemoryFiles({ root })), {
      ...(external ? { external } : {}),
      clock,
      warn: (problem) => warnings.push(problem),
      messagesOf: async () => STORED,
    });
    const runner = createHookRunner({ hooks: providers.hooks, clock, emit: (event) => events.push(event) });
    return { providers, runner, warnings, events, clock };
  }

  verifies(
    'core:memory:provider-contract',
    'the files come first, one external provider stands beside them, and only an available one by its name',
    async () => {
      const fake = createFakeMemoryProvider();
      fake.facts.push('the boat is called Marlin');
      const { providers, runner } = compose(fake);
      await runner.sessionStart(SESSION, NEVER);
      assert.deepEqual(
        providers.hooks.map(({ name }) => name),
        ['memory-files', 'memory-fake'],
      );
      assert.deepEqual(
        providers.tools().map(({ name }) => name),
        ['memory'],
      );
      assert.equal(providers.promptBlock(), '1 facts can be recalled.');
      const away: MemoryProvider = { ...fake, name: 'away', available: () => refuse('no-key', 'AWAY_KEY is missing') };
      const chosen = chooseProvider([fake, away], 'fake');
      assert.ok(chosen.ok && chosen.value === fake);
      assert.deepEqual(chooseProvider([fake], ''), { ok: true, value: undefined });
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
    'it is told of turns, memory writes, compression, session end, session switch and delegation',
    async () => {
      const told: string[] = [];
      const fake = createFakeMemoryProvider();
      const provider: MemoryProvider = {
        ...fake,
        turnEnded: async (_session, messages) => void told.push(`turn of ${messages.length}`),
        beforeCompress: async (messages) => `keep ${messages.length}`,
        sessionSwitched: async (to, how) => void told.push(`${how} ${to.sessionId}`),
        delegated: async (task, result) => void told.push(`${task}: ${result}`),
        sessionEnded: async (messages) => void told.push(`ended with ${messages.length}`),
      };
      const { providers, runner } = compose(provider);
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
      await providers.written({ sessionId: 's1', action: 'replace', target: 'memory', content: 'c' });
      await providers.switched({ ...SESSION, sessionId: 's2' }, 'resumed');
      await providers.delegated('count files', '12');
      await runner.sessionEnd(SESSION);
      assert.deepEqual(
        fake.notices.map(({ action, target, content }) => `${action} ${target} ${content}`),
        ['add user a', 'remove user b', 'replace memory c'],
      );
      assert.deepEqual(told, ['turn of 2', 'resumed s2', 'count files: 12', 'ended with 2']);
    },
  );

  test('a provider that fails becomes an event; the files and the turn go on', async () => {
    const fail = async () => {
      throw new Error('no network');
    };
    const fake = createFakeMemoryProvider();
    const { providers, runner, events, warnings } = compose({
      ...fake,
      prefetch: fail,
      beforeCompress: fail,
      stop: fail,
    });
    await runner.sessionStart(SESSION, NEVER);
    assert.deepEqual(await runner.beforeTurn({ ...TURN, text: 'a real question' }, NEVER), []);
    await runner.beforeCompress(SESSION, STORED, NEVER);
    const failed = (at: string) => ({ type: 'hook-failed', hook: 'memory-fake', at, error: 'no network' });
    assert.deepEqual(events, [failed('beforeTurn'), failed('beforeCompress')]);
    await providers.stop();
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
