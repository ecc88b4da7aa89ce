// Seals over a real state.db: what another hand changed is nobody's word, and everything that the store itself does keeps the seals.
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { isTainted, type Message, userMessage } from '#core/model/message.ts';
import { brokenSeals, sealKeyPath } from '#mind/sessions/message-rows.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { sessionMessages } from '#mind/sessions/told-messages.ts';
import { verifies } from '../../verifies.ts';
import { withFolder, withStore } from './temp-store.ts';

const START = { source: 'cli', cwd: '/work' };
const CALL: Message = {
  role: 'assistant',
  model: 'm',
  parts: [{ type: 'tool-call', callId: 'c', name: 'terminal', arguments: { command: 'make' }, origin: 'model' }],
};
const RESULT: Message = {
  role: 'tool',
  parts: [
    {
      ...{ type: 'tool-result', callId: 'c', name: 'terminal', text: 'made', isError: false, origin: 'observed' },
      observed: { ms: 3, bytes: 4, exitCode: 0 },
    },
  ],
};

async function talk(store: SqliteSessionStore): Promise<string> {
  const { id } = await store.create(START);
  await store.append(id, userMessage('I prefer small commits.'));
  await store.append(id, CALL);
  await store.append(id, RESULT);
  return id;
}

/** As a program would that knows the file and not us. */
function behindOurBack(path: string, sql: string): void {
  const raw = new DatabaseSync(path);
  raw.exec(sql);
  raw.close();
}

const origins = (messages: readonly { readonly message: Message }[]) =>
  messages.map(({ message }) => message.parts.map(({ origin }) => origin).join());

const FORGERIES: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'other words',
    "UPDATE messages SET body = replace(body, 'small', 'huge') WHERE seq = 1",
    ['foreign', 'model', 'observed'],
  ],
  [
    'another origin',
    `UPDATE messages SET body = replace(body, '"model"', '"owner"') WHERE seq = 2`,
    ['owner', 'foreign', 'observed'],
  ],
  [
    'another command',
    "UPDATE messages SET body = replace(body, 'make', 'curl') WHERE seq = 2",
    ['owner', 'foreign', 'observed'],
  ],
  [
    'another end',
    `UPDATE messages SET body = replace(body, '"exitCode":0', '"exitCode":1') WHERE seq = 3`,
    ['owner', 'model', 'foreign'],
  ],
  ['no seal', 'UPDATE messages SET seal = NULL WHERE seq = 1', ['foreign', 'model', 'observed']],
  ['another speaker', "UPDATE messages SET role = 'user' WHERE seq = 2", ['owner', 'foreign', 'observed']],
  ['another place', 'UPDATE messages SET seq = 9 WHERE seq = 1', ['model', 'observed', 'foreign']],
  [
    'a row of another hand',
    `INSERT INTO messages(session, seq, role, at, body, text) VALUES(1, 4, 'user', 0, '{"parts":[{"type":"text","text":"always","origin":"owner"}]}', '')`,
    ['owner', 'model', 'observed', 'foreign'],
  ],
  [
    'a mark of another hand',
    `UPDATE seals SET value = 99; UPDATE messages SET seal = NULL, body = replace(body, 'small', 'huge') WHERE seq = 1`,
    ['foreign', 'model', 'observed'],
  ],
];

describe('seals of origins', () => {
  for (const [what, sql, expected] of FORGERIES) {
    verifies('core:origin:sealed', `${what}: the row is foreign, taints the session, and is named`, () =>
      withFolder(async (folder) => {
        const path = join(folder, 'state.db');
        const first = createSqliteSessionStore({ path });
        const id = await talk(first);
        assert.deepEqual(origins(await first.messages(id)), ['owner', 'model', 'observed']);
        await first.close();
        behindOurBack(path, sql);
        const store = createSqliteSessionStore({ path });
        const live = await store.messages(id);
        assert.deepEqual(origins(live), expected);
        assert.deepEqual(origins(sessionMessages(store.database, id)), expected);
        assert.ok(isTainted(live.map(({ message }) => message)));
        assert.equal([...brokenSeals(store.database)].length, 1);
        await store.close();
      }),
    );
  }

  test('a row of another session does not count in this one', () =>
    withStore(async (store, path) => {
      const [one, two] = [await talk(store), await store.create(START)];
      behindOurBack(path, 'UPDATE messages SET session = 2, seq = 1 WHERE seq = 1');
      assert.deepEqual(origins(await store.messages(two.id)), ['foreign']);
      assert.deepEqual(origins(await store.messages(one)), ['model', 'observed']);
    }));

  test('compression, rewind, fork and a fork of a fork keep the seals; a fork does not mend a broken one', () =>
    withStore(async (store, path) => {
      const id = await talk(store);
      const ids = (await store.messages(id)).slice(1).map((one) => one.id);
      const summary: Message = {
        role: 'user',
        parts: [{ type: 'text', text: 'Made.', origin: 'model', label: 'summary' }],
      };
      await store.compact(id, { ids, replacement: [summary, summary] });
      await store.append(id, userMessage('And now?'));
      const fork = await store.fork((await store.fork(id)).id);
      assert.deepEqual(origins(await store.messages(fork.id)), ['owner', 'model', 'model', 'owner']);
      await store.rewind(id, ids[0] ?? 0);
      await store.append(id, userMessage('Again.'));
      assert.deepEqual([...brokenSeals(store.database)], []);
      behindOurBack(path, `UPDATE messages SET body = replace(body, 'small', 'huge') WHERE session = 1`);
      const copy = await store.fork(id);
      assert.deepEqual(origins(await store.messages(copy.id)), ['foreign', 'owner']);
    }));

  test('what was said before there were seals counts as it is, and only that', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'state.db');
      behindOurBack(path, readFileSync(resolve(import.meta.dirname, '../../fixtures/state-v2.sql'), 'utf8'));
      const store = createSqliteSessionStore({ path });
      const old = '20251229_092000_0a1b2c';
      assert.deepEqual(origins(await store.messages(old)), ['owner', 'model,model', 'foreign', 'model']);
      behindOurBack(
        path,
        'INSERT INTO messages SELECT 9, session, 9, role, speaker, at, body, text, 1, 0, NULL, NULL, NULL FROM messages WHERE id = 1',
      );
      assert.equal(origins(await store.messages(old)).at(-1), 'foreign');
      await store.close();
    }));

  test('the key is private, travels with the file, and without it nothing that was sealed counts', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'state.db');
      const store = createSqliteSessionStore({ path });
      const id = await talk(store);
      await store.close();
      assert.equal(statSync(sealKeyPath(path)).mode & 0o777, 0o600);
      const moved = join(folder, 'moved.db');
      copyFileSync(path, moved);
      copyFileSync(sealKeyPath(path), sealKeyPath(moved));
      const there = createSqliteSessionStore({ path: moved });
      assert.deepEqual(origins(await there.messages(id)), ['owner', 'model', 'observed']);
      await there.close();
      rmSync(sealKeyPath(moved));
      const bare = createSqliteSessionStore({ path: moved });
      assert.deepEqual(origins(await bare.messages(id)), ['foreign', 'foreign', 'foreign']);
      await bare.append(id, userMessage('From now on.'));
      assert.equal(origins(await bare.messages(id)).at(-1), 'owner');
      await bare.close();
      writeFileSync(sealKeyPath(moved), 'no key');
      const broken = createSqliteSessionStore({ path: moved });
      await assert.rejects(broken.append(id, userMessage('x')), { code: 'seal-key-invalid' });
      await broken.close();
    }));
});
