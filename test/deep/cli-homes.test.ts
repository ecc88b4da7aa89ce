/** Homes that are damaged, newer, misplaced or not ours: what the real command says, and how it ends. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { createCliStage } from '../scenario/cli-process.ts';
import { verifies } from '../verifies.ts';

describe('homes of the command line', () => {
  verifies(
    'core:session:corrupt-kept',
    'a damaged database is told by the command that met it, and by the doctor from then on',
    async (t) => {
      const stage = createCliStage(t);
      mkdirSync(stage.root, { mode: 0o700 });
      writeFileSync(join(stage.root, 'state.db'), 'no database at all, '.repeat(500), { mode: 0o600 });
      const list = await stage.run(['sessions', 'list']);
      assert.deepEqual([list.code, list.out], [1, '']);
      assert.match(list.err, /^talaria: .*state\.db is damaged.*\n.*talaria repair salvage/);
      assert.match((await stage.run(['doctor', '--offline'])).out, /fail {2}database: state\.db is damaged/);
      assert.equal((await stage.run(['repair', 'salvage'])).code, 1);
      assert.equal((await stage.run(['repair', 'empty'])).code, 0);
      const kept = readdirSync(stage.root).find((name) => /\.corrupt-[\w-]+$/.test(name)) ?? '';
      const doctor = await stage.run(['doctor', '--offline']);
      assert.match(doctor.out, new RegExp(`warn {2}database: .*${kept}`));
    },
  );

  verifies(
    ['core:session:newer-read-only', 'core:bad-input:newer-config'],
    'a home of a newer Talaria is read and said so; whatever would write into it fails with one message',
    async (t) => {
      const stage = createCliStage(t);
      await stage.run(['memory', 'add', 'kept as it is']);
      assert.equal((await stage.run(['-m', 'reflex', '-p', 'help'])).code, 0);
      const notes = readFileSync(join(stage.root, 'memories', 'MEMORY.md'), 'utf8');
      const makeNewer = {
        config: () => writeFileSync(join(stage.root, 'config.yaml'), 'version: 99\n', { mode: 0o600 }),
        database: () => {
          rmSync(join(stage.root, 'config.yaml'));
          const { database } = openDatabase(join(stage.root, 'state.db'), { rooms: [] });
          database.exec('UPDATE schema_versions SET version = 99');
          database.close();
        },
      };
      for (const [what, make] of Object.entries(makeNewer)) {
        make();
        const list = await stage.run(['sessions', 'list']);
        assert.equal(list.code, 0, list.err);
        assert.match(list.out, /help/, what);
        assert.match(list.err, /newer/, what);
        const writing = [
          ['memory', 'add', 'something'],
          ['sessions', 'rename', 'last', 'something'],
          ['-p', 'run `echo hi`'],
        ];
        for (const args of writing) {
          const run = await stage.run(args);
          assert.equal(run.code, 1, `${what}: ${args.join(' ')}`);
          assert.match(run.err, /talaria: this home was written by a newer Talaria.*\nUpdate Talaria/);
        }
      }
      assert.equal(readFileSync(join(stage.root, 'memories', 'MEMORY.md'), 'utf8'), notes);
    },
  );

  test('a key that is missing is told by what uses a model, and by nothing else', async (t) => {
    const stage = createCliStage(t);
    mkdirSync(stage.root, { mode: 0o700 });
    const config = `providers:\n  garage:\n    base_url: http://127.0.0.1:9/v1\n    api_key: \${GARAGE_KEY}\n`;
    writeFileSync(join(stage.root, 'config.yaml'), config, { mode: 0o600 });
    for (const args of [
      ['skills', 'list'],
      ['sessions', 'list'],
      ['pending', 'list'],
    ]) {
      const run = await stage.run(args);
      assert.deepEqual([run.code, run.err], [0, ''], args.join(' '));
    }
    for (const args of [['models'], ['-m', 'reflex', '-p', 'help']]) {
      const run = await stage.run(args);
      assert.match(run.out + run.err, /GARAGE_KEY is not set/, args.join(' '));
    }
  });

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
    const cases: readonly (readonly [string, readonly string[]])[] = [
      [file, ['sessions', 'list']],
      [file, ['backup']],
      [file, ['config', 'set', 'agent.max_steps', '5']],
      [join(file, 'below'), ['sessions', 'list']],
    ];
    for (const [place, args] of cases) {
      const run = await stage.run(args, { env: { TALARIA_HOME: place } });
      assert.equal(run.code, 1);
      assert.match(run.err, /^talaria: .*file.* cannot be used as a private folder .*\n.*name another folder\.\n$/);
    }
    const doctor = await stage.run(['doctor', '--offline'], { env: { TALARIA_HOME: file } });
    assert.match(doctor.out, /fail {2}home: .* is no folder\n/);
  });
});
