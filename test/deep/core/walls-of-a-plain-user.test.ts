/** The tests of the walls once more as somebody who is not root: the kernel builds them in another way then. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { noWalls } from '../../core/tools/walls-scene.ts';

const USER = '65534';
const isRoot = process.getuid?.() === 0;

describe('walls of a plain user', { skip: noWalls() ?? false }, () => {
  it('keep the same, started by root for another user', () => {
    if (!isRoot) return; // the tests themselves run as one
    const tests = [
      ...['walls', 'walls-past-namespaces', 'walls-openings', 'walls-races'].map(
        (name) => `test/deep/core/${name}.test.ts`,
      ),
      'test/core/tools/network.test.ts',
    ];
    const node = [
      process.execPath,
      '--import',
      './test/property-seed.ts',
      '--test',
      '--test-isolation=none',
      '--test-force-exit',
    ];
    const who = ['--reuid', USER, '--regid', USER, '--clear-groups'];
    const env = { PATH: process.env.PATH, HOME: '/nonexistent', TMPDIR: '/tmp', NODE_DISABLE_COMPILE_CACHE: '1' };
    const done = spawnSync('setpriv', [...who, ...node, ...tests], {
      env,
      encoding: 'utf8',
      cwd: process.cwd(),
    });
    assert.equal(done.status, 0, done.stdout.slice(-8_000) + done.stderr);
  });
});
