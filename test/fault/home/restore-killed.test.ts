/** A restore that is killed at each of its operations on files: the next start finds the old home or the new one, and says which. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { errorCode } from '#base/errors.ts';
import { finishRestore, restoreBackup } from '#surfaces/app/backup/restore-backup.ts';
import { writeBackup } from '#surfaces/app/backup/write-backup.ts';
import { type Home, homeAt, restoreIntent } from '#surfaces/app/home/home.ts';
import { createTempHome, type TempHome } from '#testing/temp-home.ts';
import { verifies } from '../../verifies.ts';
import { breakDisk, diesAt } from '../failing-disk.ts';

const { signal } = new AbortController();

interface Ground {
  readonly temp: TempHome;
  readonly home: Home;
  readonly file: string;
}

/** A backup that says `kept`, and a home that says `present`. */
async function ground(t: TestContext, isOccupied = true): Promise<Ground> {
  const temp = createTempHome(t);
  temp.write('old/memories/MEMORY.md', 'kept');
  temp.write('old/skills/a/b/SKILL.md', 'kept too');
  const file = join(temp.path, 'b.tar.gz');
  await writeBackup(homeAt(join(temp.path, 'old')), { file, withSecrets: false }, signal);
  if (isOccupied) {
    temp.write('home/memories/MEMORY.md', 'present');
    temp.write('home/.env', 'A=1\n');
  }
  return { temp, home: homeAt(join(temp.path, 'home')), file };
}

const saysIn = (folder: string) => {
  const path = join(folder, 'memories/MEMORY.md');
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
};

/** Gives how many of its operations the restore did, undefined when it came to its end. */
async function killed({ temp, home, file }: Ground, at: number): Promise<boolean> {
  const faults = diesAt(at);
  const disk = breakDisk(temp.path, faults);
  try {
    await restoreBackup(home, { file, force: true, clock: systemClock }, signal);
  } catch (error) {
    assert.ok(faults.failed !== undefined, String(error));
  } finally {
    disk.mend();
    dropLocks(temp.path);
  }
  return faults.failed !== undefined;
}

/** This process lives on: its locks are made those of a dead one. */
function dropLocks(folder: string): void {
  for (const name of readdirSync(folder).filter((found) => /\.lock(?:\.break)?$/.test(found)))
    writeFileSync(join(folder, name), '');
}

/** Tries from the operation on that is given, gives the one at which it was: the same on every such ground. */
async function killedWhileSwapping(place: Ground, from: number): Promise<number> {
  const intent = restoreIntent(place.home);
  for (let at = from; ; at += 1) {
    assert.ok(await killed(place, at));
    if (existsSync(intent) && readFileSync(intent, 'utf8').includes('swapping')) return at;
    await finishRestore(place.home);
  }
}

function assertWhole({ temp, home }: Ground, notice: string | undefined): void {
  const now = saysIn(home.root);
  const aside = readdirSync(temp.path).filter((name) => name.startsWith('home.before-'));
  if (now === 'kept') {
    assert.equal(readFileSync(join(home.root, 'skills/a/b/SKILL.md'), 'utf8'), 'kept too');
    assert.equal(readFileSync(home.env, 'utf8'), 'A=1\n');
    assert.deepEqual(
      aside.map((name) => saysIn(join(temp.path, name))),
      ['present'],
    );
  } else {
    assert.equal(now, 'present');
    assert.deepEqual(aside, []);
  }
  if (notice !== undefined)
    assert.match(notice, now === 'kept' ? /is finished now; .*home\.before-/ : /was taken back/);
  assert.deepEqual(
    readdirSync(temp.path).filter((name) => /^\.home-restoring-|json$/.test(name)),
    [],
    'no part and no intent is left beside the home',
  );
}

describe('a restore that is killed', () => {
  verifies(
    'core:home:restore-whole',
    'leaves at each operation the old home or the new one, and the next start says so',
    async (context) => {
      const t = context as TestContext;
      const told = new Set<string>();
      for (let at = 1; ; at += 1) {
        const place = await ground(t);
        const died = await killed(place, at);
        const notice = await finishRestore(place.home);
        told.add(notice?.replace(/^.* was interrupted/, '').slice(0, 20) ?? '');
        assertWhole(place, notice);
        assert.equal(await finishRestore(place.home), undefined);
        if (!died) break;
        assert.ok(at < 400);
      }
      assert.equal(told.size, 3, 'taken back, finished, and nothing to say');
    },
  );

  test('killed again while it is finished, it is finished by the start after', async (t) => {
    let swaps = 1;
    for (let at = 1, done = false; !done; at += 1) {
      const place = await ground(t);
      swaps = await killedWhileSwapping(place, swaps);
      const disk = breakDisk(place.temp.path, diesAt(at));
      done = await finishRestore(place.home).then(
        () => true,
        () => false,
      );
      disk.mend();
      dropLocks(place.temp.path);
      await finishRestore(place.home);
      assert.equal(saysIn(place.home.root), 'kept');
      assertWhole(place, undefined);
      assert.ok(at < 100);
    }
  });

  test('an intent that this home did not begin is not followed, nor names that no restore gives', async (t) => {
    const place = await ground(t, false);
    place.temp.write('home/memories/MEMORY.md', 'mine');
    place.temp.write('.home-restoring-1/memories/MEMORY.md', 'planted');
    const intent = { file: 'b', staging: '.home-restoring-1', aside: 'home.before-x', state: 'swapping' };
    place.temp.write('.home-restoring.json', JSON.stringify(intent));
    await assert.rejects(finishRestore(place.home), (error) => errorCode(error) === 'restore-unclear');
    assert.equal(saysIn(place.home.root), 'mine');
    place.temp.write('home/.restoring', '.home-restoring-1');
    assert.match((await finishRestore(place.home)) ?? '', /is finished now/);
    assert.deepEqual([saysIn(place.home.root), saysIn(join(place.temp.path, 'home.before-x'))], ['planted', 'mine']);
    assert.ok(!existsSync(join(place.temp.path, 'home.before-x/.restoring')));
    for (const staging of ['../old', '.home-restoring-1/../../old', 'old']) {
      place.temp.write('.home-restoring.json', JSON.stringify({ ...intent, staging, state: 'unpacking' }));
      await assert.rejects(finishRestore(place.home), (error) => errorCode(error) === 'restore-unclear');
    }
    assert.equal(saysIn(join(place.temp.path, 'old')), 'kept');
  });
});
