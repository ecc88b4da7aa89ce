/** The contract of SessionStore as tests; the SQLite store and the fake in memory both run it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorCode } from '#base/errors.ts';
import type { SessionStore, Span } from '#core/agent/session-store.ts';
import { type AssistantMessage, type Message, type ToolMessage, userMessage } from '#core/model/message.ts';
import { createManualClock, type ManualClock } from '#testing/manual-clock.ts';
import { verifies } from '../verifies.ts';

export interface SessionStoreSubject {
  readonly store: SessionStore;
  readonly clock: ManualClock;
}

const CALL: AssistantMessage = {
  role: 'assistant',
  model: 'test/one',
  parts: [
    { type: 'reasoning', text: 'look first', origin: 'model', replay: { signature: 'x' } },
    { type: 'text', text: 'I look at the folder.', origin: 'model' },
    {
      type: 'tool-call',
      callId: 'c1',
      name: 'terminal',
      arguments: { command: 'ls', deep: { list: [1, null] } },
      origin: 'model',
    },
  ],
};
const RESULT: ToolMessage = {
  role: 'tool',
  parts: [
    {
      type: 'tool-result',
      callId: 'c1',
      name: 'terminal',
      text: 'a.txt\nb.txt',
      isError: false,
      origin: 'foreign',
      observed: { ms: 12, bytes: 11, exitCode: 0 },
    },
  ],
};
const ODD: Message = {
  role: 'user',
  parts: [
    { type: 'text', text: 'seen today', origin: 'foreign', label: 'context' },
    { type: 'text', text: 'é 東京 😀 \0 "quoted"', origin: 'owner' },
  ],
};

export function sessionStoreContract(name: string, make: (clock: ManualClock) => SessionStore): void {
  const using = async (body: (subject: SessionStoreSubject) => Promise<void>): Promise<void> => {
    const clock = createManualClock();
    const store = make(clock);
    try {
      await body({ store, clock });
    } finally {
      await store.close();
    }
  };

  describe(`SessionStore: ${name}`, () => {
    verifies('core:session:create', 'a new session has id, source, start, counters and title', () =>
      using(async ({ store, clock }) => {
        assert.equal((await store.create({ id: 'of-my-own', source: 'cli', cwd: '/work' })).id, 'of-my-own');
        const made = await store.create({ source: 'cli', cwd: '/work', userId: 'u', chatId: 'c', title: 'First' });
        assert.match(made.id, /^\d{8}_\d{6}_[0-9a-f]{6}$/);
        assert.deepEqual(
          { ...made, id: '' },
          {
            id: '',
            source: 'cli',
            cwd: '/work',
            userId: 'u',
            chatId: 'c',
            title: 'First',
            startedAt: clock.now(),
            lastActiveAt: clock.now(),
            messageCount: 0,
            toolCallCount: 0,
          },
        );
        assert.deepEqual(await store.get(made.id), made);
        assert.equal(await store.get('20200101_000000_abcdef'), undefined);
      }),
    );

    verifies(
      ['core:session:every-message-recorded', 'core:origin:survives-resume'],
      'messages come back as they were appended, in that order, with their origins',
      () =>
        using(async ({ store, clock }) => {
          const { id } = await store.create({ source: 'cli', cwd: '/' });
          const other = await store.create({ source: 'cli', cwd: '/' });
          const messages: Message[] = [ODD, CALL, RESULT, userMessage('and now?')];
          const ids: number[] = [];
          for (const message of messages) {
            const stored = await store.append(id, message);
            assert.deepEqual(stored, { id: stored.id, sessionId: id, at: clock.now(), message });
            ids.push(stored.id);
            await store.append(other.id, userMessage('elsewhere'));
            clock.jump(1000);
          }
          const read = await store.messages(id);
          assert.deepEqual(
            read.map((stored) => stored.message),
            messages,
          );
          assert.deepEqual(
            read.map((stored) => stored.id),
            ids,
          );
          assert.deepEqual(
            ids,
            [...ids].sort((a, b) => a - b),
          );
          assert.equal((await store.messages(other.id)).length, 4);
        }),
    );

    test('appends that run at once keep the order of their calls', () =>
      using(async ({ store }) => {
        const { id } = await store.create({ source: 'cli', cwd: '/' });
        const texts = Array.from({ length: 40 }, (_, at) => `message ${at}`);
        await Promise.all(texts.map((text) => store.append(id, userMessage(text))));
        const read = await store.messages(id);
        assert.deepEqual(
          read.map(({ message }) => message),
          texts.map((text) => userMessage(text)),
        );
      }));

    test('counters, activity and model follow the messages; an append opens an ended session again', () =>
      using(async ({ store, clock }) => {
        const { id } = await store.create({ source: 'cli', cwd: '/' });
        clock.jump(5000);
        await store.append(id, CALL);
        await store.append(id, RESULT);
        const record = await store.get(id);
        assert.equal(record?.messageCount, 2);
        assert.equal(record?.toolCallCount, 1);
        assert.equal(record?.model, 'test/one');
        assert.equal(record?.lastActiveAt, clock.now());
        await store.end(id);
        assert.equal((await store.get(id))?.endedAt, clock.now());
        await store.append(id, userMessage('one more'));
        assert.equal((await store.get(id))?.endedAt, undefined);
      }));

    test('list gives the newest activity first, filtered and limited', () =>
      using(async ({ store, clock }) => {
        const ids: string[] = [];
        for (const source of ['cli', 'api', 'cli']) {
          ids.push((await store.create({ source, cwd: source === 'api' ? '/a' : '/b' })).id);
          clock.jump(1000);
        }
        await store.append(ids[0] ?? '', userMessage('again'));
        const listed = async (filter?: Parameters<SessionStore['list']>[0]) =>
          (await store.list(filter)).map((one) => one.id);
        assert.deepEqual(await listed(), [ids[0], ids[2], ids[1]]);
        assert.deepEqual(await listed({ source: 'cli' }), [ids[0], ids[2]]);
        assert.deepEqual(await listed({ cwd: '/a' }), [ids[1]]);
        assert.deepEqual(await listed({ limit: 1 }), [ids[0]]);
        assert.deepEqual(await listed({ spoken: true }), [ids[0]]);
      }));

    verifies('core:prompt:stored-by-hash', 'a prompt is stored by hash and comes back byte for byte', () =>
      using(async ({ store }) => {
        const { id } = await store.create({ source: 'cli', cwd: '/' });
        assert.equal(await store.loadPrompt(id), undefined);
        const tools = [{ name: 't', description: 'd', parameters: { type: 'object', z: 1, a: [true] } }];
        const prompt = { system: 'You are\n\n  exact. é', tools };
        const hash = await store.savePrompt(id, prompt);
        const loaded = await store.loadPrompt(id);
        assert.equal(JSON.stringify(loaded), JSON.stringify(prompt));
        const other = await store.create({ source: 'cli', cwd: '/' });
        assert.equal(await store.savePrompt(other.id, prompt), hash);
        assert.notEqual(await store.savePrompt(other.id, { ...prompt, system: 'else' }), hash);
        assert.deepEqual(await store.loadPrompt(id), prompt);
      }),
    );

    verifies('core:session:lease', 'a live session has one owner; the second is told, a release frees it', () =>
      using(async ({ store }) => {
        const { id } = await store.create({ source: 'cli', cwd: '/' });
        const first = await store.claim(id);
        assert.ok(first.ok);
        const second = await store.claim(id);
        assert.ok(!second.ok);
        assert.equal(second.reason, 'owned-elsewhere');
        await first.value.release();
        await first.value.release();
        const third = await store.claim(id);
        assert.ok(third.ok);
        const unknown = await store.claim('20200101_000000_abcdef');
        assert.ok(!unknown.ok);
        assert.equal(unknown.reason, 'no-such-session');
      }),
    );

    verifies('core:session:parent-links', 'a fork has its parent, a copy of the live context and the prompt', () =>
      using(async ({ store, clock }) => {
        const { id } = await store.create({ source: 'cli', cwd: '/work', title: 'Old' });
        await store.append(id, ODD);
        await store.append(id, CALL);
        await store.savePrompt(id, { system: 's', tools: [] });
        clock.jump(1000);
        const fork = await store.fork(id);
        assert.equal(fork.parentId, id);
        assert.equal(fork.cwd, '/work');
        assert.equal(fork.messageCount, 2);
        assert.equal(fork.model, 'test/one');
        await store.append(fork.id, userMessage('only here'));
        const copied = await store.messages(fork.id);
        assert.deepEqual(
          copied.map(({ message }) => message),
          [ODD, CALL, userMessage('only here')],
        );
        assert.deepEqual(await store.loadPrompt(fork.id), { system: 's', tools: [] });
        assert.equal((await store.messages(id)).length, 2);
      }),
    );

    verifies('core:session:token-counts', 'spans come back in order; steps are summed by purpose and model', () =>
      using(async ({ store }) => {
        const { id } = await store.create({ source: 'cli', cwd: '/' });
        const spans: Span[] = [step(id, 's2', 2000, 0.5), step(id, 's1', 1000, null), toolSpan(id, 't1', 1500)];
        await store.recordSpans(spans);
        await store.recordSpans([spans[0] as Span]);
        assert.deepEqual(
          (await store.spans(id)).map((span) => span.id),
          ['s1', 't1', 's2'],
        );
        assert.deepEqual((await store.spans(id))[2], spans[0]);
        const usage = { inputTokens: 20, outputTokens: 4, cachedTokens: 10, cacheWriteTokens: 2, reasoningTokens: 0 };
        const row = { purpose: 'answer', model: 'test/one', calls: 2, usage, cost: 0.5, unpriced: 1 };
        assert.deepEqual(await store.costs({ sessionId: id }), [row]);
        assert.equal((await store.costs({ since: 1500 }))[0]?.calls, 1);
        assert.equal((await store.costs({ until: 1500 }))[0]?.calls, 1);
        assert.deepEqual(await store.costs({ since: 9000 }), []);
      }),
    );

    verifies(
      'core:compression:rows-kept',
      'a compression replaces messages in place, stores the prompt, and what came after stays behind it',
      () =>
        using(async ({ store, clock }) => {
          const { id } = await store.create({ source: 'cli', cwd: '/' });
          const ids = await sayAll(store, id, ['a', 'b', 'c', 'd', 'e']);
          const before = await store.get(id);
          const prompt = { system: 'new', tools: [] };
          clock.jump(10);
          const inserted = await store.compact(id, { ids: ids.slice(1, 3), replacement: [summary('S1')], prompt });
          assert.deepEqual(
            inserted.map(({ at, message }) => [at, message]),
            [[clock.now(), summary('S1')]],
          );
          assert.deepEqual(await texts(store, id), ['a', 'S1', 'd', 'e']);
          assert.deepEqual(await store.loadPrompt(id), prompt);
          assert.deepEqual(await store.get(id), before);
          await sayAll(store, id, ['f']);
          const again = [inserted[0]?.id ?? 0, ids[3] ?? 0];
          await store.compact(id, { ids: again, replacement: [summary('S2')] });
          assert.deepEqual(await texts(store, id), ['a', 'S2', 'e', 'f']);
          assert.deepEqual(await texts(store, (await store.fork(id)).id), ['a', 'S2', 'e', 'f']);
          assert.deepEqual(await store.loadPrompt(id), prompt);
        }),
    );

    test('a compression of what is not live changes nothing', () =>
      using(async ({ store }) => {
        const { id } = await store.create({ source: 'cli', cwd: '/' });
        const other = await store.create({ source: 'cli', cwd: '/' });
        const ids = await sayAll(store, id, ['a', 'b', 'c']);
        const [foreign = 0] = await sayAll(store, other.id, ['x']);
        await store.compact(id, { ids: ids.slice(0, 1), replacement: [summary('S')] });
        const prompt = { system: 'never', tools: [] };
        for (const wrong of [[], [foreign], [ids[0] ?? 0], [ids[1] ?? 0, 99_999]]) {
          await assert.rejects(
            store.compact(id, { ids: wrong, replacement: [summary('no')], prompt }),
            (error) => errorCode(error) === 'no-such-message',
          );
        }
        assert.deepEqual(await texts(store, id), ['S', 'b', 'c']);
        assert.equal(await store.loadPrompt(id), undefined);
      }));

    verifies(
      'core:session:rewind',
      'a rewind takes back a message and all after it; behind a compression the originals are live again',
      () =>
        using(async ({ store }) => {
          const { id } = await store.create({ source: 'cli', cwd: '/' });
          const ids = await sayAll(store, id, ['a', 'b', 'c', 'd', 'e']);
          await store.append(id, CALL);
          assert.equal(await store.rewind(id, ids[4] ?? 0), 2);
          assert.deepEqual(await texts(store, id), ['a', 'b', 'c', 'd']);
          const record = await store.get(id);
          assert.deepEqual([record?.messageCount, record?.toolCallCount], [4, 0]);
          const [inserted] = await store.compact(id, { ids: ids.slice(1, 3), replacement: [summary('S')] });
          for (const gone of [ids[4] ?? 0, inserted?.id ?? 0, 99_999]) {
            await assert.rejects(store.rewind(id, gone), (error) => errorCode(error) === 'no-such-message');
          }
          const [later = 0] = await sayAll(store, id, ['f']);
          assert.equal(await store.rewind(id, later), 1);
          assert.deepEqual(await texts(store, id), ['a', 'S', 'd']);
          assert.equal(await store.rewind(id, ids[2] ?? 0), 2);
          assert.deepEqual(await texts(store, id), ['a', 'b']);
          assert.equal((await store.get(id))?.messageCount, 2);
          await sayAll(store, id, ['g']);
          assert.deepEqual(await texts(store, id), ['a', 'b', 'g']);
        }),
    );

    test('an unknown session is an error with its code', () =>
      using(async ({ store }) => {
        const unknown = 'no-session';
        const calls = [
          () => store.append(unknown, userMessage('x')),
          () => store.messages(unknown),
          () => store.setTitle(unknown, 'x'),
          () => store.fork(unknown),
          () => store.compact(unknown, { ids: [1], replacement: [] }),
          () => store.rewind(unknown, 1),
          () => store.spans(unknown),
        ];
        for (const call of calls) {
          await assert.rejects(call, (error) => errorCode(error) === 'no-such-session');
        }
      }));
  });
}

function summary(text: string): Message {
  return { role: 'user', parts: [{ type: 'text', text, origin: 'model', label: 'summary' }] };
}

async function sayAll(store: SessionStore, id: string, lines: readonly string[]): Promise<readonly number[]> {
  const ids: number[] = [];
  for (const line of lines) ids.push((await store.append(id, userMessage(line))).id);
  return ids;
}

async function texts(store: SessionStore, id: string): Promise<readonly string[]> {
  return (await store.messages(id)).map(({ message }) =>
    message.parts.map((part) => ('text' in part ? part.text : '')).join(),
  );
}

function step(sessionId: string, id: string, startedAt: number, cost: number | null): Span {
  const usage = { inputTokens: 10, outputTokens: 2, cachedTokens: 5, cacheWriteTokens: 1, reasoningTokens: 0 };
  const facts = {
    turn: 1,
    kind: 'step',
    name: 'test/one',
    ms: 5.5,
    status: 'ok',
    purpose: 'answer',
    tier: 'T1',
  } as const;
  return { id, sessionId, startedAt, ...facts, usage, cost };
}

function toolSpan(sessionId: string, id: string, startedAt: number): Span {
  return {
    id,
    parentId: 's1',
    sessionId,
    startedAt,
    turn: 1,
    kind: 'tool',
    name: 'terminal',
    ms: 3,
    status: 'error',
    detail: 'exit 1',
  };
}
