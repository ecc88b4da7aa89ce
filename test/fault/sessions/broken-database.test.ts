import assert from 'node:assert/strict';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { errorCode } from '#base/errors.ts';
import { userMessage } from '#core/model/message.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { withFolder, withStore } from '../../mind/sessions/temp-store.ts';
import { verifies } from '../../verifies.ts';

const hasCode = (code: string) => (error: unknown) => errorCode(error) === code;

async function filled(path: string, count = 30): Promise<string> {
  const store = createSqliteSessionStore({ path });
  const { id } = await store.create({ source: 'cli', cwd: '/' });
  for (let at = 0; at < count; at += 1) await store.append(id, userMessage(`the harbour report number ${at}`));
  await store.close();
  return id;
}

/** SQLite itself protects these tables, so this goes around our own connection. */
function damageIndex(path: string, sql = ''): void {
  const raw = new DatabaseSync(path, { defensive: false });
  raw.exec(sql);
  raw.close();
}

async function found(store: SqliteSessionStore): Promise<number> {
  return (await store.search('harbour report', { limit: 100 })).length;
}

describe('a broken state.db', () => {
  verifies(
    'core:session:corrupt-kept',
    'a damaged file is refused with its bytes as they are, at every start until it is mended or taken away',
    () =>
      withFolder(async (folder) => {
        const path = join(folder, 'state.db');
        await filled(path);
        const damaged = Buffer.concat([Buffer.alloc(4096, 0xab), readFileSync(path).subarray(4096)]);
        writeFileSync(path, damaged);
        for (let start = 0; start < 2; start += 1) {
          assert.throws(
            () => createSqliteSessionStore({ path }),
            (error) =>
              hasCode('database-corrupt')(error) && /repair salvage/.test(String((error as { fix?: string }).fix)),
          );
          assert.deepEqual(readFileSync(path), damaged);
        }
        renameSync(path, `${path}.elsewhere`);
        assert.throws(
          () => createSqliteSessionStore({ path }),
          hasCode('database-corrupt'),
          'a file that is gone is not mended',
        );
        rmSync(`${path}.suspect`);
        const store = createSqliteSessionStore({ path });
        const { id } = await store.create({ source: 'cli', cwd: '/' });
        await store.append(id, userMessage('life goes on'));
        await store.close();
      }),
  );

  verifies(
    'core:session:newer-read-only',
    'a newer file opens for reading: search and history work, writing is refused',
    () =>
      withFolder(async (folder) => {
        const path = join(folder, 'state.db');
        const id = await filled(path);
        const first = createSqliteSessionStore({ path });
        first.database.run("UPDATE schema_versions SET version = 99 WHERE room = 'sessions'");
        await first.close();
        const store = createSqliteSessionStore({ path });
        assert.equal(store.notices[0]?.code, 'opened-read-only');
        assert.match(store.notices[0]?.message ?? '', /newer version/);
        assert.equal((await store.messages(id)).length, 30);
        assert.equal(await found(store), 30);
        await assert.rejects(() => store.append(id, userMessage('x')), hasCode('database-read-only'));
        await store.close();
      }),
  );

  test('a store that is opened for reading changes nothing', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'state.db');
      const id = await filled(path);
      const before = readFileSync(path);
      const store = createSqliteSessionStore({ path, readOnly: true });
      assert.equal(await found(store), 30);
      await assert.rejects(() => store.append(id, userMessage('x')), hasCode('database-read-only'));
      await store.close();
      assert.deepEqual(readFileSync(path), before);
    }));

  verifies(
    'core:bad-input:locked-database',
    'appends wait for another writer in order; past the deadline they are refused, none is lost',
    () =>
      withFolder(async (folder) => {
        const path = join(folder, 'state.db');
        const id = await filled(path, 1);
        const store = createSqliteSessionStore({ path, busyMs: 60_000 });
        const hasty = createSqliteSessionStore({ path, busyMs: 100 });
        const other = createSqliteSessionStore({ path });
        other.database.exec('BEGIN IMMEDIATE');
        const waiting = [1, 2, 3].map((at) => store.append(id, userMessage(`waited ${at}`)));
        setTimeout(() => other.database.exec('COMMIT'), 60);
        await Promise.all(waiting);
        other.database.exec('BEGIN IMMEDIATE');
        await assert.rejects(() => hasty.append(id, userMessage('refused')), hasCode('database-locked'));
        other.database.exec('ROLLBACK');
        await store.append(id, userMessage('after'));
        const texts = (await store.messages(id)).map(({ message }) => message);
        const expected = ['the harbour report number 0', 'waited 1', 'waited 2', 'waited 3', 'after'];
        assert.deepEqual(
          texts,
          expected.map((text) => userMessage(text)),
        );
        for (const open of [store, hasty, other]) await open.close();
      }),
  );

  test('on a full disk an append is refused with its code; what was there stays whole and searchable', () =>
    withStore(async (store) => {
      const { id } = await store.create({ source: 'cli', cwd: '/' });
      await store.append(id, userMessage('the harbour report'));
      const pages = store.database.get<{ page_count: number }>('PRAGMA page_count')?.page_count ?? 0;
      store.database.exec(`PRAGMA max_page_count = ${pages + 4}`);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 8 }, (_, at) => store.append(id, userMessage(`${at} ${'full '.repeat(2000)}`))),
      );
      const kept = outcomes.filter((outcome) => outcome.status === 'fulfilled').length;
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
      assert.ok(refused.length > 0);
      assert.ok(refused.every((outcome) => hasCode('disk-full')(outcome.reason)));
      assert.equal((await store.messages(id)).length, 1 + kept);
      assert.equal((await store.search('harbour')).length, 1);
      store.database.exec('PRAGMA max_page_count = 1000000');
      await store.append(id, userMessage('space again'));
      assert.deepEqual(await store.checkIndex(), { agrees: true, differences: [] });
    }));
});

describe('a damaged search index', () => {
  const DAMAGES: Readonly<Record<string, string>> = {
    'pages overwritten': 'UPDATE spoken_index_data SET block = zeroblob(40) WHERE id > 10',
    'structure gone': 'DELETE FROM spoken_index_data WHERE id = 10',
    'everything gone': 'DELETE FROM spoken_index_data',
  };

  for (const [name, damage] of Object.entries(DAMAGES)) {
    test(`${name}: noticed by the check, mended by the next search, never an empty past`, () =>
      withFolder(async (folder) => {
        const path = join(folder, 'state.db');
        await filled(path);
        damageIndex(path, damage);
        const store = createSqliteSessionStore({ path });
        assert.ok(!store.notices.some((notice) => notice.code === 'database-quarantined'));
        assert.equal((await store.checkIndex()).agrees, false);
        assert.equal(await found(store), 30);
        assert.deepEqual(await store.checkIndex(), { agrees: true, differences: [] });
        await store.close();
      }));
  }

  test('an append into it is kept and the index mended', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'state.db');
      const id = await filled(path);
      damageIndex(path, DAMAGES['structure gone']);
      const store = createSqliteSessionStore({ path });
      await store.append(id, userMessage('the harbour again'));
      assert.equal((await store.messages(id)).length, 31);
      assert.deepEqual(await store.checkIndex(), { agrees: true, differences: [] });
      await store.close();
    }));

  test('a search over it gives what is there', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'state.db');
      await filled(path);
      damageIndex(path, DAMAGES['structure gone']);
      const store = createSqliteSessionStore({ path });
      assert.equal(await found(store), 30);
      await store.close();
    }));

  test('rows that are not indexed, wrongly indexed or indexed too much are named', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'state.db');
      await filled(path, 4);
      const store = createSqliteSessionStore({ path });
      store.database.exec(
        "INSERT INTO spoken_index(spoken_index, rowid, terms) SELECT 'delete', id, terms FROM spoken_terms WHERE id = 1",
      );
      store.database.exec("UPDATE spoken_terms SET terms = 'else' WHERE id = 2");
      store.database.exec('UPDATE messages SET active = 0 WHERE id = 3');
      const { agrees, differences } = await store.checkIndex();
      assert.equal(agrees, false);
      assert.equal(differences.length, 3, differences.join('; '));
      await store.repairIndex();
      assert.deepEqual(await store.checkIndex(), { agrees: true, differences: [] });
      await store.close();
    }));

  test('an index of another analysis is built anew at the next opening', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'state.db');
      await filled(path);
      const old = createSqliteSessionStore({ path });
      old.database.exec("UPDATE spoken_counts SET value = 0 WHERE name = 'analysis'; DELETE FROM spoken_words");
      await old.close();
      const store = createSqliteSessionStore({ path });
      assert.ok(
        (store.database.get<{ rows: number }>("SELECT rows FROM spoken_words WHERE word = 'harbour'")?.rows ?? 0) ===
          30,
      );
      await store.close();
    }));
});
