import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { CommitQueue, logDamage } from '#base/database/write-log.ts';
import { openDatabase, type RoomSchema } from '#base/database.ts';
import { errorCode } from '#base/errors.ts';

const NOTES: RoomSchema = { room: 'notes', steps: ['CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT NOT NULL)'] };
const NOTES_2: RoomSchema = {
  room: 'notes',
  steps: [...NOTES.steps, "ALTER TABLE notes ADD COLUMN kind TEXT DEFAULT 'plain'"],
};
const BROKEN: RoomSchema = { room: 'notes', steps: [...NOTES.steps, 'DELETE FROM notes', 'ALTER TABLE missing ADD x'] };
const OTHER: RoomSchema = { room: 'other', steps: [(database) => database.exec('CREATE TABLE other(id)')] };

async function inFolder(body: (path: string, folder: string) => Promise<void> | void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-database-'));
  try {
    await body(join(folder, 'sub', 'test.db'), join(folder, 'sub'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function add(database: Database, text: string): number {
  return database.run('INSERT INTO notes(text) VALUES(?)', text).id;
}

function texts(database: Database): readonly string[] {
  return database.all<{ text: string }>('SELECT text FROM notes ORDER BY id').map((row) => row.text);
}

const hasCode = (code: string) => (error: unknown) => errorCode(error) === code;

describe('opening a database', () => {
  test('makes a private file with the tables of every room', () =>
    inFolder((path, folder) => {
      const { database, notices } = openDatabase(path, { rooms: [NOTES, OTHER] });
      assert.deepEqual(notices, []);
      assert.equal(statSync(path).mode & 0o777, 0o600);
      assert.equal(statSync(folder).mode & 0o777, 0o700);
      assert.equal(add(database, 'one'), 1);
      assert.equal(database.get<{ journal_mode: string }>('PRAGMA journal_mode')?.journal_mode, 'wal');
      assert.equal(database.get<{ synchronous: number }>('PRAGMA synchronous')?.synchronous, 2);
      assert.equal(database.get<{ foreign_keys: number }>('PRAGMA foreign_keys')?.foreign_keys, 1);
      database.close();
      database.close();
      assert.deepEqual(readdirSync(folder), ['test.db'], 'the log is folded into the file');
    }));

  test('a room that comes later gets its tables without a copy; a step of an old room copies the file first', () =>
    inFolder((path, folder) => {
      const first = openDatabase(path, { rooms: [NOTES] });
      add(first.database, 'kept');
      first.database.close();
      const second = openDatabase(path, { rooms: [NOTES, OTHER] });
      assert.deepEqual(second.notices, []);
      second.database.close();
      const third = openDatabase(path, { rooms: [NOTES_2, OTHER] });
      assert.equal(third.notices[0]?.code, 'migrated');
      assert.deepEqual(
        third.database.all<{ text: string; kind: string }>('SELECT text, kind FROM notes').map((row) => ({ ...row })),
        [{ text: 'kept', kind: 'plain' }],
      );
      third.database.close();
      const copies = readdirSync(folder).filter((name) => name.includes('.before-'));
      assert.equal(copies.length, 1);
      const copy = openDatabase(join(folder, copies[0] ?? ''), { rooms: [NOTES], readOnly: true });
      assert.deepEqual(texts(copy.database), ['kept']);
      copy.database.close();
      assert.equal(statSync(join(folder, copies[0] ?? '')).mode & 0o777, 0o600);
    }));

  test('a step that fails leaves the old tables and rows', () =>
    inFolder((path) => {
      const first = openDatabase(path, { rooms: [NOTES] });
      add(first.database, 'kept');
      first.database.close();
      assert.throws(() => openDatabase(path, { rooms: [BROKEN] }), hasCode('database-failed'));
      const again = openDatabase(path, { rooms: [NOTES] });
      assert.deepEqual(texts(again.database), ['kept']);
      again.database.close();
    }));

  test('a file of a newer version is refused, or opened for reading when that is asked for', () =>
    inFolder((path) => {
      const first = openDatabase(path, { rooms: [NOTES_2] });
      add(first.database, 'newer');
      first.database.close();
      assert.throws(() => openDatabase(path, { rooms: [NOTES] }), hasCode('newer-schema'));
      const { database, notices } = openDatabase(path, { rooms: [NOTES], onNewer: 'read-only' });
      assert.equal(notices[0]?.code, 'opened-read-only');
      assert.deepEqual(texts(database), ['newer']);
      assert.throws(() => add(database, 'x'), hasCode('database-read-only'));
      database.close();
    }));

  test('a file that is no database is kept aside byte for byte and a notice says so', () =>
    inFolder((path, folder) => {
      openDatabase(path, { rooms: [NOTES] }).database.close();
      const garbage = Buffer.alloc(8192, 'not a database ');
      writeFileSync(path, garbage);
      assert.throws(() => openDatabase(path, { rooms: [NOTES], onCorrupt: 'throw' }), hasCode('database-corrupt'));
      const { database, notices } = openDatabase(path, { rooms: [NOTES] });
      assert.equal(notices[0]?.code, 'database-quarantined');
      assert.match(notices[0]?.copy ?? '', /test\.db\.corrupt-\d{8}-\d{6}-[0-9a-f]{4}$/);
      assert.deepEqual(readFileSync(notices[0]?.copy ?? ''), garbage);
      assert.deepEqual(texts(database), []);
      database.close();
      assert.equal(readdirSync(folder).filter((name) => name.includes('.corrupt-')).length, 1);
    }));

  test('damage that is met in mid-work is remembered: the next opening looks at the whole file', () =>
    inFolder((path) => {
      const first = openDatabase(path, { rooms: [NOTES] });
      for (let at = 0; at < 400; at += 1) add(first.database, `note ${at} ${'x'.repeat(200)}`);
      first.database.close();
      const bytes = readFileSync(path);
      bytes.fill(0xff, bytes.length - 8 * 4096, bytes.length - 4096);
      writeFileSync(path, bytes);
      const hurt = openDatabase(path, { rooms: [NOTES] });
      assert.throws(() => texts(hurt.database), hasCode('database-corrupt'));
      hurt.database.close();
      assert.ok(existsSync(`${path}.suspect`));
      const { database, notices } = openDatabase(path, { rooms: [NOTES] });
      assert.equal(notices[0]?.code, 'database-quarantined');
      assert.deepEqual(readFileSync(notices[0]?.copy ?? ''), bytes);
      assert.ok(!existsSync(`${path}.suspect`));
      database.close();
    }));

  test('a suspicion that proves wrong goes away', () =>
    inFolder((path) => {
      const first = openDatabase(path, { rooms: [NOTES] });
      add(first.database, 'well');
      first.database.close();
      writeFileSync(`${path}.suspect`, '');
      const { database, notices } = openDatabase(path, { rooms: [NOTES] });
      assert.deepEqual(notices, []);
      assert.deepEqual(texts(database), ['well']);
      assert.ok(!existsSync(`${path}.suspect`));
      database.close();
    }));

  test('a folder in the place of the file is an error with a code', () =>
    inFolder((path) => {
      openDatabase(join(path, 'inner.db'), { rooms: [NOTES] }).database.close();
      assert.throws(() => openDatabase(path, { rooms: [NOTES] }), hasCode('database-unopenable'));
    }));
});

describe('a connection', () => {
  async function withNotes(body: (database: Database, path: string) => Promise<void> | void, busyMs = 10_000) {
    await inFolder(async (path) => {
      const { database } = openDatabase(path, { rooms: [NOTES], busyMs });
      try {
        await body(database, path);
      } finally {
        database.close();
      }
    });
  }

  test('a transaction is whole or nothing', () =>
    withNotes(async (database) => {
      assert.equal(await database.transaction(() => add(database, 'one')), 1);
      const work = () => {
        add(database, 'two');
        throw new RangeError('no');
      };
      await assert.rejects(() => database.transaction(work), RangeError);
      assert.deepEqual(texts(database), ['one']);
    }));

  test('a writer waits for another without blocking its own process', () =>
    withNotes(async (database, path) => {
      const other = openDatabase(path, { rooms: [NOTES] }).database;
      other.exec('BEGIN IMMEDIATE');
      let ticks = 0;
      const ticking = (async () => {
        for (; ticks < 10; ticks += 1) await systemClock.sleep(10);
        other.exec('COMMIT');
      })();
      await database.transaction(() => add(database, 'waited'));
      assert.equal(ticks, 10);
      await ticking;
      assert.deepEqual(texts(database), ['waited']);
      other.close();
    }));

  test('past the deadline a writer is told that the database is locked, and may try again', () =>
    withNotes(async (database, path) => {
      const other = openDatabase(path, { rooms: [NOTES] }).database;
      other.exec('BEGIN IMMEDIATE');
      await assert.rejects(
        () => database.transaction(() => add(database, 'x')),
        (error) => {
          assert.ok(hasCode('database-locked')(error));
          return 'retryable' in (error as object) && (error as { retryable: boolean }).retryable;
        },
      );
      assert.equal(database.tryRun("INSERT INTO notes(text) VALUES('y')"), undefined);
      other.exec('ROLLBACK');
      await database.transaction(() => add(database, 'later'));
      assert.deepEqual(texts(database), ['later']);
      other.close();
    }, 120));

  test('waiting ends when its signal aborts', () =>
    withNotes(async (database, path) => {
      const other = openDatabase(path, { rooms: [NOTES] }).database;
      other.exec('BEGIN IMMEDIATE');
      await assert.rejects(
        () => database.transaction(() => add(database, 'x'), AbortSignal.timeout(30)),
        /timeout|abort/i,
      );
      other.exec('ROLLBACK');
      other.close();
    }));

  test('a full disk is `disk-full`, and what was there stays', () =>
    withNotes(async (database) => {
      add(database, 'kept');
      const pages = database.get<{ page_count: number }>('PRAGMA page_count')?.page_count ?? 0;
      database.exec(`PRAGMA max_page_count = ${pages + 1}`);
      await assert.rejects(() => database.transaction(() => add(database, 'x'.repeat(100_000))), hasCode('disk-full'));
      assert.deepEqual(texts(database), ['kept']);
      database.exec('PRAGMA max_page_count = 100000');
      await database.transaction(() => add(database, 'again'));
      assert.deepEqual(texts(database), ['kept', 'again']);
    }));

  test('a copy is whole, private, and never lands on an existing file', () =>
    withNotes(async (database, path) => {
      add(database, 'copied');
      database.copyTo(`${path}.copy`);
      assert.equal(statSync(`${path}.copy`).mode & 0o777, 0o600);
      const copy = openDatabase(`${path}.copy`, { rooms: [NOTES], readOnly: true }).database;
      assert.deepEqual(texts(copy), ['copied']);
      copy.close();
      assert.throws(() => database.copyTo(`${path}.copy`), hasCode('file-exists'));
    }));

  test('rows have no prototype and can be walked one by one', () =>
    withNotes((database) => {
      add(database, 'a');
      add(database, 'b');
      const rows = [...database.iterate<{ text: string }>('SELECT text FROM notes ORDER BY id')];
      assert.deepEqual(
        rows.map((row) => row.text),
        ['a', 'b'],
      );
      assert.equal(Object.getPrototypeOf(rows[0]), null);
      assert.equal(database.findDamage(), undefined);
    }));

  test('a log that was begun anew, and no further, is whole: the frames behind its head are those of the log before', () =>
    inFolder((path) => {
      const { database } = openDatabase(path, { rooms: [NOTES] });
      const log = `${path}-wal`;
      for (let i = 0; i < 8; i++) add(database, `note ${i}`);
      database.exec('PRAGMA wal_checkpoint(PASSIVE)');
      const before = readFileSync(log);
      add(database, 'the first of the next log');
      const after = readFileSync(log);
      assert.notDeepEqual(after.subarray(0, 32), before.subarray(0, 32));
      // A writer that is killed between its two first writes leaves this.
      const copy = `${path}.killed`;
      writeFileSync(`${copy}-wal`, Buffer.concat([after.subarray(0, 32), before.subarray(32)]));
      assert.equal(logDamage(copy), undefined);
      // Where the first frame alone was spoiled, the others name the head.
      const spoiled = Buffer.from(before);
      spoiled.fill(0, 32, 64);
      writeFileSync(`${copy}-wal`, spoiled);
      assert.equal(logDamage(copy), 'frame 1 of its log');
      database.close();
    }));

  test('a wrong statement is an error of ours with its cause', () =>
    withNotes((database) => {
      assert.throws(
        () => database.run('INSERT INTO nowhere VALUES(1)'),
        (error) => {
          return hasCode('database-failed')(error) && (error as Error).cause instanceof Error;
        },
      );
    }));

  test('work that is handed in together is committed together; a failing piece fails alone', () =>
    withNotes(async (database) => {
      const queue = new CommitQueue(database);
      let transactions = 0;
      const counted = {
        transaction: <T>(work: () => T) => {
          transactions += 1;
          return database.transaction(work);
        },
      };
      const shared = new CommitQueue(counted as unknown as Database);
      const done = await Promise.all(
        Array.from({ length: 20 }, (_, at) => shared.commit(() => add(database, `n${at}`))),
      );
      assert.deepEqual(
        done,
        Array.from({ length: 20 }, (_, at) => at + 1),
      );
      assert.equal(transactions, 1);
      const failing = () => {
        add(database, 'gone');
        throw new RangeError('no');
      };
      const outcomes = await Promise.allSettled([
        queue.commit(() => add(database, 'before')),
        queue.commit(failing),
        queue.commit(() => add(database, 'after')),
      ]);
      assert.deepEqual(
        outcomes.map((outcome) => outcome.status),
        ['fulfilled', 'rejected', 'fulfilled'],
      );
      assert.deepEqual(texts(database).slice(20), ['before', 'after']);
      await queue.settled();
    }));
});
