/** Homes that are damaged, newer, misplaced or not ours: what the real command says, and how it ends. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe } from 'node:test';
import { verifies } from '../verifies.ts';
import { createCliStage } from './cli-process.ts';

describe('homes of the command line', () => {
  verifies(
    'core:session:corrupt-quarantined',
    'a damaged database is told by the command that met it, and by the doctor from then on',
    async (t) => {
      const stage = createCliStage(t);
      mkdirSync(stage.root, { mode: 0o700 });
      writeFileSync(join(stage.root, 'state.db'), 'no database at all, '.repeat(500), { mode: 0o600 });
      const list = await stage.run(['sessions', 'list']);
      assert.equal(list.out, 'no session yet\n');
      assert.match(list.err, /^talaria: .*state\.db was damaged; it was kept as .*\.corrupt-/);
      const kept = readdirSync(stage.root).find((name) => /\.corrupt-[\w-]+$/.test(name)) ?? '';
      const doctor = await stage.run(['doctor', '--offline']);
      assert.match(doctor.out, new RegExp(`warn {2}database: .*${kept}`));
      assert.match(doctor.out, /talaria restore FILE/);
    },
  );

  verifies('core:home:location', 'an empty HOME does not put the home into the current folder', async (t) => {
    const stage = createCliStage(t);
    const run = await stage.run(['config', 'path'], { env: { HOME: '', TALARIA_HOME: '' } });
    assert.equal(run.out, `${join(userInfo().homedir, '.talaria', 'config.yaml')}\n`);
    assert.ok(!existsSync(join(stage.cwd, '.talaria')));
  });

  verifies('core:home:location', 'a home that cannot be made is one clear line with a way out', async (t) => {
    const stage = createCliStage(t);
    const file = join(stage.folder, 'file');
    writeFileSync(file, '');
    for (const place of [file, join(file, 'below')]) {
      const run = await stage.run(['sessions', 'list'], { env: { TALARIA_HOME: place } });
      assert.equal(run.code, 1);
      assert.match(run.err, /^talaria: .*file.* cannot be used as a private folder .*\n.*name another folder\.\n$/);
    }
  });
});
