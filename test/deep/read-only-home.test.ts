/** A home on a disk that can only be read: everything that only looks works, and what needs writing says so. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { type CliStage, COMPILE_CACHE, createCliStage } from '../scenario/cli-process.ts';
import { verifies } from '../verifies.ts';

const MAIN = process.env.TALARIA_TEST_MAIN ?? join(import.meta.dirname, '../../src/surfaces/cli/main.ts');
const ROOM = ['--bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];
const works = spawnSync('bwrap', [...ROOM, 'true']).status === 0;
const options = works ? {} : { skip: 'skipped: bubblewrap is missing (apt install bubblewrap)' };

function runReadOnly({ root, cwd, folder }: CliStage, args: readonly string[]) {
  const done = spawnSync('bwrap', [...ROOM, '--ro-bind', root, root, process.execPath, MAIN, ...args], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: folder, TALARIA_HOME: root, NODE_COMPILE_CACHE: COMPILE_CACHE },
  });
  return { code: done.status, out: done.stdout, err: done.stderr };
}

async function lived(t: TestContext): Promise<CliStage> {
  const stage = createCliStage(t);
  assert.equal((await stage.run(['-m', 'reflex', '-p', 'help'])).code, 0);
  assert.equal((await stage.run(['memory', 'add', 'likes tea'])).code, 0);
  return stage;
}

const listing = (root: string) =>
  readdirSync(root, { recursive: true })
    .map(String)
    .sort()
    .map((name) => [
      name,
      existsSync(join(root, name)) && name.endsWith('.md') ? readFileSync(join(root, name), 'utf8') : '',
    ]);

describe('a home that can only be read', () => {
  verifies(
    'core:home:read-only',
    'sessions, memory, skills, doctor are read; what needs writing says so, and nothing is written',
    {
      options,
      run: async (context) => {
        const stage = await lived(context as TestContext);
        const before = listing(stage.root);
        const reads: readonly (readonly [readonly string[], RegExp])[] = [
          [['sessions', 'list'], /help/],
          [['sessions', 'search', 'help'], /user · help/],
          [['cost'], /reflex/],
          [['memory', 'show'], /likes tea/],
          [['skills', 'list'], /No skills yet/],
          [['pending', 'list'], /Nothing waits/],
          [['doctor', '--offline'], /warn {2}home: .* can only be read/],
        ];
        for (const [args, expected] of reads) {
          const run = runReadOnly(stage, args);
          assert.equal(run.code, 0, `${args.join(' ')}: ${run.err}`);
          assert.match(run.out, expected);
        }
        const writes = [
          ['memory', 'add', 'x'],
          ['-m', 'reflex', '-p', 'help'],
          ['config', 'set', 'agent.max_steps', '7'],
        ];
        for (const args of writes) {
          const run = runReadOnly(stage, args);
          assert.equal(run.code, 1, args.join(' '));
          assert.match(run.err, /can only be read|read-only/);
        }
        assert.deepEqual(listing(stage.root), before);
      },
    },
  );

  test('what a killed process left in the log is read too', options, async (t) => {
    const stage = await lived(t);
    const store = createSqliteSessionStore({ path: join(stage.root, 'state.db') });
    const [session] = await store.list();
    store.database.exec('PRAGMA wal_autocheckpoint = 0');
    await store.setTitle(session?.id ?? '', 'only in the log');
    assert.match(runReadOnly(stage, ['sessions', 'list']).out, /only in the log/);
    await store.close();
  });
});
