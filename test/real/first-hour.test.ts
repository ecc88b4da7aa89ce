/** The guide of the first hour, typed into a real terminal as it stands: what is shown is what the page shows. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const skip = spawnSync('tmux', ['-V']).status === 0 ? false : 'skipped: tmux is not installed';

test('first hour: the guide, followed word for word, shows what it says', { skip }, () => {
  const run = spawnSync(process.execPath, ['scripts/first-hour.ts', '--check'], { cwd: ROOT, encoding: 'utf8' });
  assert.equal(run.status, 0, run.stdout + run.stderr);
});
