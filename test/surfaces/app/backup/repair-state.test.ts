/** What the owner can choose about a damaged state.db, the copies to go back to, and the look after a crash. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { isSuspect } from '#base/database/damage.ts';
import { keepDailyCopy } from '#surfaces/app/backup/daily-copy.ts';
import { homeAt } from '#surfaces/app/home/home.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { verifies } from '../../../verifies.ts';
import { createStage, openConversation, play, runCommand, type Stage } from '../app-fixture.ts';

const never = new AbortController().signal;

/** A home with a session of a few turns. */
async function lived(t: TestContext): Promise<Stage> {
  const stage = createStage(t);
  const app = await stage.open({ extra: { client: createScriptedModel(['one', 'two'], { context: t }) } });
  const conversation = await openConversation(app);
  await play(conversation, 'the harbour');
  await play(conversation, 'the lighthouse');
  await app.shutdown();
  return stage;
}

function damage(path: string, from = 0, length = 100): void {
  const bytes = readFileSync(path);
  bytes.fill(0xab, from, from + length);
  writeFileSync(path, bytes);
}

const corrupt = { code: 'database-corrupt' };

describe('a damaged state.db', () => {
  verifies(
    'core:session:salvage',
    'what can be read is saved by a command; nobody is asked, and nothing started empty, before',
    async (context) => {
      const stage = await lived(context as TestContext);
      const path = join(stage.root, 'state.db');
      assert.equal((await runCommand(stage, 'repair salvage')).failure?.code, 'not-damaged');
      damage(path);
      await assert.rejects(runCommand(stage, 'sessions list'), corrupt);
      assert.match(
        (await runCommand(stage, 'repair show')).text,
        /damaged: .*repair salvage.*repair restore.*repair empty/s,
      );
      const saved = await runCommand(stage, 'repair salvage');
      assert.match(
        saved.text,
        /1 session and 4 messages were saved\nevery table could be read to its end\nthe damaged file is kept as/,
      );
      assert.match((await runCommand(stage, 'sessions search', { words: ['lighthouse'] })).text, /lighthouse/);
      assert.equal(
        readdirSync(stage.root).filter((name) => /^state\.db\.corrupt-[^-]+-[^-]+-[^-]+$/.test(name)).length,
        1,
      );
    },
  );

  verifies(
    ['core:session:salvage', 'core:session:daily-copy'],
    'a daily copy is brought back; the newest that is whole',
    async (context) => {
      const stage = await lived(context as TestContext);
      const path = join(stage.root, 'state.db');
      const daily = join(stage.root, 'backups/daily');
      const [copy = ''] = readdirSync(daily);
      const older = join(daily, 'state-2020-01-01.db');
      renameSync(join(daily, copy), older);
      utimesSync(older, 1_600_000_000, 1_600_000_000);
      writeFileSync(join(daily, copy), 'no database');
      damage(path, 4096, 40_000);
      const restored = await runCommand(stage, 'repair restore');
      assert.match(restored.text, /state-2020-01-01\.db was brought back\nthe damaged file is kept as/);
      assert.match((await runCommand(stage, 'sessions list')).text, /harbour/);
      damage(path);
      assert.equal(
        (await runCommand(stage, 'repair restore', { file: join(daily, copy) })).failure?.code,
        'copy-damaged',
      );
      await assert.rejects(runCommand(stage, 'sessions list'), corrupt);
    },
  );

  test('a salvage that would bring no session refuses, names the copy, and leaves everything as it is', async (t) => {
    const stage = await lived(t);
    const path = join(stage.root, 'state.db');
    const [copy = ''] = readdirSync(join(stage.root, 'backups/daily'));
    for (const [from, length] of [
      [4096, 36_000], // other tables can be read
      [0, 290_000],
    ] as const) {
      damage(path, from, length);
      const names = () => readdirSync(stage.root).filter((name) => !/-(?:wal|shm)$/.test(name));
      const before = { bytes: readFileSync(path), names: names() };
      const { failure, text } = await runCommand(stage, 'repair salvage');
      assert.deepEqual([failure?.code, failure?.exitCode], ['nothing-readable', 1], text);
      assert.match(failure?.fix ?? '', new RegExp(`repair restore \\S*${copy}. brings`));
      assert.deepEqual(names(), before.names);
      assert.ok(before.bytes.equals(readFileSync(path)));
    }
    assert.match((await runCommand(stage, 'repair restore')).text, /was brought back/);
    assert.match((await runCommand(stage, 'sessions list')).text, /harbour/);
  });

  test('a repair that was interrupted refuses every start, and can be done again', async (t) => {
    const stage = await lived(t);
    const path = join(stage.root, 'state.db');
    damage(path);
    await assert.rejects(stage.open(), corrupt);
    renameSync(path, `${path}.corrupt-20260101-000000-aaaa`);
    await assert.rejects(stage.open(), corrupt, 'moved aside, and nothing in its place yet');
    assert.match((await runCommand(stage, 'repair salvage')).text, /4 messages were saved/);
    damage(path);
    assert.match((await runCommand(stage, 'repair empty')).text, /begins with no sessions/);
    assert.equal((await runCommand(stage, 'sessions list')).failure, undefined);
  });

  test('gone, with its key or a copy still there, is damage too, and empty is a choice that holds', async (t) => {
    const stage = await lived(t);
    const path = join(stage.root, 'state.db');
    const [copy = ''] = readdirSync(join(stage.root, 'backups/daily'));
    for (const left of [`${path}.seal`, join(stage.root, 'backups/daily', copy)]) {
      for (const part of ['', '-wal', '-shm']) rmSync(path + part, { force: true });
      await assert.rejects(stage.open(), (error: Error) => error.message.includes('it is gone, and'), left);
      assert.ok(!existsSync(path));
      const shown = await runCommand(stage, 'repair show');
      assert.match(shown.text, /damaged: it is gone, and /);
      assert.doesNotMatch(shown.text, /repair salvage/);
      assert.match((await runCommand(stage, 'doctor', { offline: true })).text, /state\.db is damaged: it is gone/);
      assert.equal((await runCommand(stage, 'repair salvage')).failure?.code, 'nothing-readable');
      assert.match((await runCommand(stage, 'repair restore')).text, /was brought back$/);
      assert.match((await runCommand(stage, 'sessions list')).text, /harbour/);
      rmSync(path);
      assert.match((await runCommand(stage, 'repair empty')).text, /begins with no sessions/);
      assert.doesNotMatch((await runCommand(stage, 'sessions list')).text, /harbour/);
      assert.match((await runCommand(stage, 'doctor', { offline: true })).text, /state\.db, whole/);
      rmSync(`${path}.seal`, { force: true });
    }
  });

  test('a home without any trace of it is new', async (t) => {
    const stage = await lived(t);
    for (const name of readdirSync(stage.root)) if (name.startsWith('state.db')) rmSync(join(stage.root, name));
    rmSync(join(stage.root, 'backups'), { recursive: true });
    assert.match((await runCommand(stage, 'doctor', { offline: true })).text, /no session is stored yet/);
    assert.equal((await runCommand(stage, 'sessions list')).failure, undefined);
  });

  test('a choice is taken back by a copy that is named; what stood there is one more copy', async (t) => {
    const stage = await lived(t);
    const path = join(stage.root, 'state.db');
    const [copy = ''] = readdirSync(join(stage.root, 'backups/daily'));
    damage(path);
    await runCommand(stage, 'repair empty');
    const refused = (await runCommand(stage, 'repair restore')).failure;
    assert.deepEqual([refused?.code, /restore FILE/.test(refused?.fix ?? '')], ['not-damaged', true]);
    const back = await runCommand(stage, 'repair restore', { file: join(stage.root, 'backups/daily', copy) });
    const empty = /what stood there is kept as (\S+\.before-\S+)$/.exec(back.text)?.[1] ?? '';
    assert.match((await runCommand(stage, 'sessions list')).text, /harbour/);
    assert.match((await runCommand(stage, 'repair show')).text, /state\.db\.before-\S+ \(.*0 sessions/);
    await runCommand(stage, 'repair restore', { file: empty });
    assert.doesNotMatch((await runCommand(stage, 'sessions list')).text, /harbour/);
  });

  test('what is put in place can be read by its owner alone', async (t) => {
    const stage = await lived(t);
    const path = join(stage.root, 'state.db');
    const [copy = ''] = readdirSync(join(stage.root, 'backups/daily'));
    chmodSync(join(stage.root, 'backups/daily', copy), 0o644);
    for (const how of ['repair salvage', 'repair restore', 'repair empty']) {
      damage(path);
      assert.equal((await runCommand(stage, how)).failure, undefined, how);
      assert.equal(statSync(path).mode & 0o777, 0o600, how);
    }
  });

  test('it is not repaired while a process has it open', async (t) => {
    const stage = await lived(t);
    const app = await stage.open();
    damage(join(stage.root, 'state.db'));
    assert.match((await runCommand(stage, 'repair empty')).text, /is open in process \d+/);
    await app.shutdown().catch(() => undefined);
  });
});

describe('copies and crashes', () => {
  verifies(
    'core:session:daily-copy',
    'a copy a day, three are kept; a date that lies ahead holds nothing up',
    async (context) => {
      const t = context as TestContext;
      const stage = await lived(t);
      const home = homeAt(stage.root);
      const clock = createManualClock({ now: Date.parse('2026-03-01T12:00:00Z') });
      const app = await stage.open();
      const ground = { home, database: app.doors.sessions.database, clock };
      const folder = join(stage.root, 'backups/daily');
      rmSync(folder, { recursive: true });
      const stamp = (file: string) => utimesSync(file, clock.now() / 1000, clock.now() / 1000);
      for (let day = 0; day < 5; day += 1) {
        const file = await keepDailyCopy(ground, never);
        assert.ok(file && existsSync(file));
        stamp(file);
        assert.equal(await keepDailyCopy(ground, never), undefined, 'one a day');
        await clock.advance(86_400_000);
      }
      const kept = readdirSync(folder);
      assert.equal(kept.length, 3);
      assert.ok(
        kept.every((name) => /^state-2026-03-0[3456]\.db$/.test(name)),
        kept.join(' '),
      );
      clock.jump(-900_000_000);
      assert.ok(await keepDailyCopy(ground, never));
    },
  );

  verifies(
    'core:session:daily-copy',
    'after a crash the file is looked at before anything is written; after a clean end it is not',
    async (context) => {
      const stage = await lived(context as TestContext);
      const path = join(stage.root, 'state.db');
      const flags = join(stage.root, 'cache/open');
      assert.deepEqual(readdirSync(flags), [], 'a clean end leaves none');
      const app = await stage.open();
      assert.equal(readdirSync(flags).length, 1);
      await app.shutdown();
      const size = readFileSync(path).length;
      damage(path, size - 3 * 4096, 3 * 4096);
      mkdirSync(flags, { recursive: true });
      writeFileSync(join(flags, 'state.db-1-x'), `4194304 ${hostname()}`);
      await assert.rejects(stage.open(), corrupt);
      assert.ok(isSuspect(path));
    },
  );
});
