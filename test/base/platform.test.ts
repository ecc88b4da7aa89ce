/** Lock files: one holder at a time, whoever dies. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { errorCode } from '#base/errors.ts';
import { privateFolder, withFileLock } from '#base/platform.ts';
import { isProcessAlive } from '#base/process/holder.ts';

const folder = () => mkdtempSync(join(tmpdir(), 'talaria-lock-'));
const deadPid = () => spawnSync(process.execPath, ['-e', '0']).pid;

describe('file locks', () => {
  test('twenty holders at once run one after the other', async () => {
    const path = join(folder(), 'x.lock');
    let inside = 0;
    let most = 0;
    const hold = () =>
      withFileLock(path, async () => {
        inside += 1;
        most = Math.max(most, inside);
        await systemClock.sleep(1);
        inside -= 1;
      });
    await Promise.all(Array.from({ length: 20 }, hold));
    assert.equal(most, 1);
    assert.equal(existsSync(path), false);
  });

  test('the lock of a dead process, and one left empty by another program, are taken over by exactly one at a time', async () => {
    for (const content of [`${deadPid()} ${hostname()}\n`, '']) {
      const path = join(folder(), 'x.lock');
      writeFileSync(path, content);
      let inside = 0;
      const hold = () =>
        withFileLock(path, async () => {
          assert.equal(++inside, 1);
          await systemClock.sleep(2);
          inside -= 1;
        });
      await Promise.all(Array.from({ length: 8 }, hold));
      assert.equal(existsSync(`${path}.break`), false);
    }
  });

  test('a process that died while it broke the lock of a dead one holds nobody up', async () => {
    for (const content of [`${deadPid()} ${hostname()}\n`, '']) {
      const path = join(folder(), 'x.lock');
      writeFileSync(path, `${deadPid()} ${hostname()}\n`);
      writeFileSync(`${path}.break`, content);
      await withFileLock(path, () => undefined, { waitMs: 60_000 });
      assert.deepEqual(readdirSync(dirname(path)), []);
    }
  });

  test('a live process that breaks the lock is waited for', async () => {
    const path = join(folder(), 'x.lock');
    writeFileSync(path, `${deadPid()} ${hostname()}\n`);
    writeFileSync(`${path}.break`, `${process.pid} ${hostname()}\n`);
    await assert.rejects(
      withFileLock(path, () => undefined, { waitMs: 60 }),
      (error) => errorCode(error) === 'locked',
    );
    assert.match(readFileSync(`${path}.break`, 'utf8'), new RegExp(`^${process.pid} `));
  });

  test('a live holder is waited for, then named; its lock stays', async () => {
    const path = join(folder(), 'x.lock');
    writeFileSync(path, `${process.pid} ${hostname()}\n`);
    await assert.rejects(
      withFileLock(path, () => undefined, { waitMs: 60 }),
      (error) => errorCode(error) === 'locked',
    );
    assert.match(readFileSync(path, 'utf8'), new RegExp(`^${process.pid} `));
  });

  test('a failing work releases the lock', async () => {
    const path = join(folder(), 'x.lock');
    await assert.rejects(
      withFileLock(path, () => Promise.reject(new Error('no'))),
      /no/,
    );
    assert.equal(existsSync(path), false);
  });

  test('private folders are for the owner alone; dead processes are seen as dead', () => {
    const path = join(folder(), 'a', 'b');
    privateFolder(path);
    assert.equal(statSync(path).mode & 0o777, 0o700);
    assert.equal(isProcessAlive(process.pid), true);
    assert.equal(isProcessAlive(deadPid()), false);
  });
});
