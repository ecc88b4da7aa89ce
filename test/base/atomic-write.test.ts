/** Whole-file writes: old or new, private, nothing left behind. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { atomicWrite } from '#base/atomic-write.ts';
import { errorCode } from '#base/errors.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../verifies.ts';

describe('atomic write', () => {
  verifies('core:home:atomic-writes', 'makes folders, is private, and replaces the whole file', (t) => {
    const home = createTempHome(t);
    const path = join(home.path, 'a', 'b', 'file.txt');
    atomicWrite(path, 'one');
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(statSync(join(home.path, 'a')).mode & 0o777, 0o700);
    atomicWrite(path, 'twö', { mode: 0o644 });
    assert.equal(readFileSync(path, 'utf8'), 'twö');
    assert.equal(statSync(path).mode & 0o777, 0o644);
    assert.deepEqual(readdirSync(join(home.path, 'a', 'b')), ['file.txt']);
  });

  verifies('core:home:atomic-writes', 'a write that fails keeps the old file and leaves no temporary one', (t) => {
    const home = createTempHome(t);
    const blocked = join(home.path, 'folder');
    atomicWrite(join(blocked, 'inner'), 'kept');
    assert.throws(
      () => atomicWrite(blocked, 'x'),
      (error) => errorCode(error) === 'write-failed',
    );
    assert.deepEqual(readdirSync(home.path), ['folder']);
    assert.equal(readFileSync(join(blocked, 'inner'), 'utf8'), 'kept');
  });

  verifies(
    'core:home:atomic-writes',
    'a pipe or a device is never replaced, and no folder below /proc waited for',
    (t) => {
      const home = createTempHome(t);
      const pipe = join(home.path, 'pipe');
      assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
      assert.throws(
        () => atomicWrite(pipe, 'x'),
        (error) => errorCode(error) === 'write-failed',
      );
      assert.deepEqual(readdirSync(home.path), ['pipe']);
      if (process.platform === 'linux')
        assert.throws(
          () => atomicWrite('/proc/talaria/folder/x', 'x'),
          (error) => errorCode(error) === 'write-failed',
        );
    },
  );

  verifies('core:home:atomic-writes', 'a folder that cannot be made is named', () => {
    assert.throws(
      () => atomicWrite('/dev/null/folder/x', 'x'),
      (error) =>
        errorCode(error) === 'write-failed' &&
        error instanceof Error &&
        /cannot write .*x: a part of .* is no folder/.test(error.message),
    );
  });

  verifies('core:home:atomic-writes', 'readers at the same time see old or new, never a mixture', (t) => {
    const home = createTempHome(t);
    const path = home.write('f', 'a'.repeat(100_000));
    for (let i = 0; i < 20; i++) {
      const letter = i % 2 === 0 ? 'b' : 'a';
      atomicWrite(path, letter.repeat(100_000));
      assert.equal(new Set(readFileSync(path, 'utf8')).size, 1);
    }
    const target = home.write('target', 'x');
    symlinkSync(target, join(home.path, 'link'));
    writeFileSync(target, 'x');
    chmodSync(target, 0o600);
    atomicWrite(join(home.path, 'link'), 'new');
    assert.equal(readFileSync(target, 'utf8'), 'x');
  });
});
