import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifies } from '../verifies.ts';
import { createCliStage } from './cli-process.ts';

verifies(['R5.40', 'R5.43'], 'a damaged schedule.sqlite is kept aside, and said before an empty list', async (t) => {
  const stage = createCliStage(t);
  mkdirSync(stage.root, { recursive: true, mode: 0o700 });
  writeFileSync(join(stage.root, 'schedule.sqlite'), 'no database', { mode: 0o600 });
  const { code, out, err } = await stage.run(['cron', 'list']);
  assert.deepEqual([code, out], [0, 'There is no job.\n']);
  assert.match(err, /schedule\.sqlite was damaged; it was kept as .*schedule\.sqlite\.corrupt-/);
});
