import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { z } from 'zod';
import { systemClock } from '#base/clock.ts';
import { parseJsonObject } from '#base/json.ts';
import { type Message, userMessage } from '#core/model/message.ts';
import { createSessionSearchTool } from '#mind/sessions/session-search-tool.ts';
import type { SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import type { AnyTool, Tool, ToolContext, ToolOutput } from '#public/talaria.ts';
import { verifies } from '../../verifies.ts';
import { withStore } from './temp-store.ts';

const CONTEXT: ToolContext = {
  sessionId: 's',
  callId: 'c',
  cwd: '/',
  clock: systemClock,
  asker: { ask: async () => undefined } as unknown as ToolContext['asker'],
  history: () => [],
  progress: () => undefined,
  redact: (text) => text,
  spillFolder: '/',
};

interface Shown {
  readonly id: number;
  readonly role: string;
  readonly text: string;
}

interface Found {
  readonly session_id: string;
  readonly match_message_id: number;
  readonly snippet: string;
  readonly messages: readonly Shown[];
  readonly bookend_start?: readonly Shown[];
  readonly bookend_end?: readonly Shown[];
  readonly messages_before: number;
  readonly messages_after: number;
  readonly messages_left_out: number;
  readonly last_messages: readonly Shown[];
  readonly detail: string;
  readonly link: string;
  readonly parent_session_id?: string;
}

interface Answer {
  readonly success: boolean;
  readonly mode: string;
  readonly count: number;
  readonly sessions_searched: number;
  readonly error?: string;
  readonly results: readonly Found[];
}

async function call(
  store: SqliteSessionStore,
  input: Readonly<Record<string, unknown>>,
  sessionId = CONTEXT.sessionId,
): Promise<Answer & { isError: boolean }> {
  const tool = createSessionSearchTool(store) as AnyTool as unknown as Tool<unknown>;
  const output: ToolOutput = await tool.run(
    tool.input.parse(input),
    { ...CONTEXT, sessionId },
    AbortSignal.timeout(10_000),
  );
  const parsed = parseJsonObject(output.text);
  assert.ok(parsed.ok);
  return { ...(parsed.value as unknown as Answer), isError: output.isError ?? false };
}

async function session(
  store: SqliteSessionStore,
  texts: readonly string[],
  source = 'cli',
  parentId?: string,
): Promise<string> {
  const { id } = await store.create({ source, cwd: '/', ...(parentId === undefined ? {} : { parentId }) });
  for (const [at, text] of texts.entries()) await store.append(id, line(text, at));
  return id;
}

function line(text: string, at: number): Message {
  if (at % 2 === 0) return userMessage(text);
  return { role: 'assistant', model: 'm', parts: [{ type: 'text', text, origin: 'model' }] };
}

const numbered = (count: number, text: string) => Array.from({ length: count }, (_, at) => `${text} ${at}`);

describe('session_search', () => {
  test('costs few tokens in every prompt', () => {
    const tool = createSessionSearchTool(undefined as unknown as SqliteSessionStore);
    const { $schema: _, ...parameters } = z.toJSONSchema(tool.input);
    const text = JSON.stringify({ name: tool.name, description: tool.description, parameters });
    assert.ok(encode(text).length <= 170, `${encode(text).length} tokens`);
    assert.equal(tool.effect, 'read');
  });

  verifies(
    ['core:recall:context-around-match', 'core:recall:verbatim', 'core:recall:tool'],
    'discover quotes the best hit with its surroundings and both ends of the session',
    () =>
      withStore(async (store) => {
        const texts = numbered(40, 'small talk');
        texts[20] = 'The boiler was repaired by Mr. Okafor  for 310 €.';
        const id = await session(store, texts);
        const answer = await call(store, { query: 'who repaired the boiler?' });
        const [found] = answer.results;
        assert.deepEqual(
          [answer.success, answer.mode, answer.count, answer.sessions_searched],
          [true, 'discover', 1, 1],
        );
        assert.equal(found?.session_id, id);
        assert.match(found?.snippet ?? '', />>>repaired<<</);
        assert.equal(found?.link, `@session:default/${id}`);
        assert.equal(found?.messages.length, 11);
        assert.equal(found?.messages[5]?.text, texts[20]);
        assert.deepEqual([found?.messages_before, found?.messages_after], [15, 14]);
        assert.deepEqual(
          found?.bookend_start?.map((one) => one.text),
          texts.slice(0, 3),
        );
        assert.deepEqual(
          found?.bookend_end?.map((one) => one.text),
          texts.slice(-3),
        );
      }),
  );

  test('the line that is being answered is no find, what was said before it in the same chat is', () =>
    withStore(async (store) => {
      const said = 'the deadline for the harbour report is friday';
      const id = await session(store, [said, 'noted', 'what did I say about the deadline']);
      const shown = async (askedIn: string) => {
        const { results } = await call(store, { query: 'deadline' }, askedIn);
        const [found] = results;
        return found?.messages.find((one) => one.id === found.match_message_id)?.text;
      };
      assert.equal(await shown(id), said);
      assert.equal(await shown('another session'), 'what did I say about the deadline');
    }));

  verifies('core:recall:group-by-session', 'one result a lineage; work of sub-agents is hidden, cron comes last', () =>
    withStore(async (store) => {
      const cron = await session(store, ['the lighthouse keeper, lighthouse keeper'], 'cron');
      const parent = await session(store, ['the lighthouse keeper sleeps', 'yes, the keeper']);
      await session(store, ['the lighthouse again'], 'cli', parent);
      await session(store, ['lighthouse keeper'], 'subagent');
      const answer = await call(store, { query: 'lighthouse keeper' });
      assert.deepEqual(
        answer.results.map((found) => found.session_id),
        [parent, cron],
      );
      assert.equal(answer.results[0]?.detail, 'full');
      assert.equal(answer.results[1]?.detail, 'brief');
      const full = await call(store, { query: 'lighthouse keeper', detail: 'full' });
      assert.ok(full.results.every((found) => found.detail === 'full'));
    }),
  );

  verifies('core:recall:nothing-found', 'nothing found is no error', () =>
    withStore(async (store) => {
      await session(store, ['hello']);
      const answer = await call(store, { query: 'xylophone' });
      assert.deepEqual([answer.success, answer.count, answer.results, answer.isError], [true, 0, [], false]);
    }),
  );

  verifies(
    ['core:recall:discover-scroll-read-browse', 'core:recall:limits'],
    'scroll, read and browse, within bounds',
    () =>
      withStore(async (store) => {
        const texts = numbered(50, 'message');
        const id = await session(store, texts);
        const ids = (await store.messages(id)).map((stored) => stored.id);
        const scrolled = (await call(store, { session_id: id, around_message_id: ids[25], window: 2 })).results[0];
        assert.deepEqual(
          scrolled?.messages.map((one) => one.text),
          texts.slice(23, 28),
        );
        assert.deepEqual([scrolled?.messages_before, scrolled?.messages_after], [23, 22]);
        const widest = (await call(store, { session_id: id, around_message_id: ids[25], window: 999 })).results[0];
        assert.equal(widest?.messages.length, 41);
        const read = (await call(store, { session_id: id })).results[0];
        assert.deepEqual([read?.messages.length, read?.messages_left_out, read?.last_messages.length], [20, 20, 10]);
        assert.equal(read?.last_messages.at(-1)?.text, 'message 49');
        const users = (await call(store, { session_id: id, role_filter: 'user' })).results[0];
        assert.ok(users?.messages.every((one) => one.role === 'user'));
        for (let more = 0; more < 12; more += 1) await session(store, [`opening ${more}`]);
        assert.equal((await call(store, {})).count, 3);
        assert.equal((await call(store, { limit: 99 })).count, 10);
        assert.equal((await call(store, { query: 'opening', limit: 99 })).count, 10);
      }),
  );

  test('a long message is cut and says by how much', () =>
    withStore(async (store) => {
      const id = await session(store, [`start ${'x'.repeat(9000)}`]);
      const text = (await call(store, { session_id: id })).results[0]?.messages[0]?.text ?? '';
      assert.match(text, /\[… 5006 more characters; detail: full\]$/);
    }));

  test('an unknown session or message is an error that the model can act on', () =>
    withStore(async (store) => {
      const id = await session(store, ['a']);
      for (const input of [{ session_id: 'nope' }, { session_id: id, around_message_id: 999 }]) {
        const answer = await call(store, input);
        assert.ok(answer.isError && !answer.success && answer.error);
      }
    }));

  test('newest and oldest order the chosen ones by time', () =>
    withStore(async (store) => {
      const ids: string[] = [];
      for (const at of [1000, 2000]) {
        const { id } = await store.create({ source: 'cli', cwd: '/' });
        await store.append(id, userMessage('the orchard plan'), { at });
        ids.push(id);
      }
      const order = async (sort: string) =>
        (await call(store, { query: 'orchard', sort })).results.map((one) => one.session_id);
      assert.deepEqual(await order('oldest'), ids);
      assert.deepEqual(await order('newest'), [...ids].reverse());
    }));
});
