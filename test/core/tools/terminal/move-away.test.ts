/** Taking away what was planted: a link that was turned meanwhile leads to nothing else. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { removedNote } from '#core/tools/terminal/enclosed-run.ts';
import { moveAway } from '#core/tools/terminal/move-away.ts';
import { createTempHome } from '#testing/temp-home.ts';

function scene(context: TestContext) {
  const home = realpathSync(createTempHome(context).path);
  const [folder, trash] = [join(home, 'proj'), join(home, 'trash')];
  for (const path of [folder, trash, join(home, '.ssh'), join(folder, 'hooks')]) mkdirSync(path);
  writeFileSync(join(home, '.ssh/id'), 'key');
  writeFileSync(join(folder, 'hooks/post-merge'), 'evil');
  return { home, folder, trash };
}

describe('core/tools/terminal: what is taken away', () => {
  it('is never what lies behind a link', (context) => {
    const { home, folder, trash } = scene(context);
    symlinkSync('..', join(folder, 'link'));
    assert.throws(() => moveAway(join(folder, 'link/.ssh'), join(trash, 'x')), { code: 'path-moved' });
    const note = removedNote({ planted: [join(folder, 'link/.ssh')] });
    assert.match(note, /^\[STILL THERE, .*\.ssh/);
    assert.equal(readFileSync(join(home, '.ssh/id'), 'utf8'), 'key');
  });

  it('is a file, a folder with all in it, a link as such; what is gone is no error', (context) => {
    const { home, folder, trash } = scene(context);
    symlinkSync(join(home, '.ssh'), join(folder, 'hooks/to'));
    moveAway(join(folder, 'hooks'), join(trash, 'hooks'));
    moveAway(join(folder, 'hooks'), join(trash, 'again'));
    assert.ok(!existsSync(join(folder, 'hooks')));
    assert.equal(readFileSync(join(trash, 'hooks/post-merge'), 'utf8'), 'evil');
    assert.equal(readlinkSync(join(trash, 'hooks/to')), join(home, '.ssh'));
  });

  it('has a name of any length, and is told apart from what was gone already', (context) => {
    const { folder } = scene(context);
    const long = `${'a'.repeat(238)}.instructions.md`;
    writeFileSync(join(folder, long), 'evil');
    mkdirSync(Buffer.concat([Buffer.from(`${folder}/x`), Buffer.from([0xff])]));
    const planted = [long, 'x\ufffd', 'gone.md'].map((name) => join(folder, name));
    assert.match(removedNote({ planted }), /^\[taken away, .*\n\[not there any more, .*gone\.md/);
    assert.deepEqual(readdirSync(folder), ['hooks']);
  });

  it('is taken by a plain user also where a command closed its folder', () => {
    const base = mkdtempSync('/tmp/talaria-closed-');
    try {
      chmodSync(base, 0o777);
      const scripts = ['mkdir a; echo x > a/.envrc; chmod 555 a', 'mkdir b; mkdir b/.vscode; chmod 000 b/.vscode b'];
      const away = join(import.meta.dirname, '../../../../src/core/tools/terminal/move-away.ts');
      // In a home of root nobody else reads the source: then it is tried as root.
      const isOther = process.getuid?.() === 0 && [away, process.execPath].every(isOpenToAll);
      const user = isOther ? { uid: 65_534, gid: 65_534 } : {};
      const work = `const { moveAway } = await import(${JSON.stringify(away)});
        for (const path of ['a/.envrc', 'b/.vscode']) console.log(moveAway('${base}/' + path, '${base}/' + path[0] + '-away'));`;
      for (const argv of [
        ...scripts.map((one) => ['/bin/sh', '-c', one]),
        [process.execPath, '--input-type=module', '-e', work],
      ]) {
        const [program = '', ...args] = argv;
        const done = spawnSync(program, args, {
          ...user,
          cwd: base,
          encoding: 'utf8',
          env: { NODE_DISABLE_COMPILE_CACHE: '1' },
        });
        assert.deepEqual([done.status, done.stdout], [0, program === '/bin/sh' ? '' : 'true\ntrue\n'], done.stderr);
      }
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  });

  it('also goes to another disk', (context) => {
    if (!existsSync('/dev/shm')) return;
    const { home, folder } = scene(context);
    const trash = mkdtempSync('/dev/shm/talaria-test-');
    context.after(() => rmSync(trash, { recursive: true }));
    symlinkSync(join(home, '.ssh'), join(folder, 'hooks/to'));
    moveAway(join(folder, 'hooks'), join(trash, 'hooks'));
    assert.ok(!existsSync(join(folder, 'hooks')) && existsSync(join(home, '.ssh/id')));
    assert.equal(readFileSync(join(trash, 'hooks/post-merge'), 'utf8'), 'evil');
    assert.equal(readlinkSync(join(trash, 'hooks/to')), join(home, '.ssh'));
  });
});

function isOpenToAll(path: string): boolean {
  for (let at = dirname(path); at !== '/'; at = dirname(at)) if ((statSync(at).mode & 1) === 0) return false;
  return true;
}
