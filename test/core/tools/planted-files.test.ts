/** Files that steer later runs: how they are put before the owner, and how they are taken away. */
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
import { plantedWords } from '#core/tools/terminal/planted-files.ts';
import { moveAway } from '#core/tools/walls/kept-steering.ts';
import { createTempHome } from '#testing/temp-home.ts';

describe('core/tools/terminal: the words of planted files', () => {
  it('are shown by name, also of folders, links and what is no text', (t) => {
    const { folder, write } = scene(createTempHome(t).path);
    const paths = [
      write('CLAUDE.md', 'one\n  | two\n'),
      join(folder, '.claude'),
      join(folder, 'AGENTS.md'),
      join(folder, 'gone.md'),
      write('.envrc', Buffer.from([0, 1, 2])),
    ];
    write('.claude/b.md', 'b');
    write('.claude/a/a.md', 'a');
    mkdirSync(join(folder, '.claude/z'));
    symlinkSync('/etc/passwd\nCLAUDE.md:', join(folder, 'AGENTS.md'));
    const { text } = plantedWords(paths, folder);
    assert.match(text, /^\.envrc cannot be shown: it is .* not text$/m);
    assert.deepEqual(text.split('\n').slice(0, -1), [
      ...['CLAUDE.md (12 characters):', '  | one', '  |   | two'],
      ...['.claude/a/a.md (1 character):', '  | a', '.claude/b.md (1 character):', '  | b'],
      ...['.claude/z is an empty folder', 'AGENTS.md is a link to /etc/passwd CLAUDE.md:'],
      'gone.md is not there any more',
    ]);
  });

  it('are cut, and what is left out is counted and bound as well', (t) => {
    const { folder, write } = scene(createTempHome(t).path);
    const long = write('CLAUDE.md', `${'x'.repeat(20_000)}end`);
    const { text, mark } = plantedWords([long], folder);
    assert.match(text, /\n… NOT SHOWN: 4003 more characters of this file$/);
    write('CLAUDE.md', `${'x'.repeat(20_000)}END`);
    assert.notEqual(plantedWords([long], folder).mark, mark);
    rmSync(long);
    for (let i = 0; i < 50; i += 1) write(`.claude/${i}.md`, 'x');
    const many = plantedWords([join(folder, '.claude')], folder);
    assert.match(many.text, /\n… NOT SHOWN: 10 more files$/);
    write('.claude/9.md', 'y');
    assert.notEqual(plantedWords([join(folder, '.claude')], folder).mark, many.mark);
  });

  it('are bound with how the file may be used, and not with when it was looked at', (t) => {
    const { folder, write } = scene(createTempHome(t).path);
    const path = write('.husky/pre-commit', 'true');
    const { mark } = plantedWords([path], folder);
    assert.equal(plantedWords([path], folder).mark, mark);
    chmodSync(path, 0o755);
    assert.notEqual(plantedWords([path], folder).mark, mark);
    rmSync(path);
    symlinkSync('x', path);
    const link = plantedWords([path], folder).mark;
    rmSync(path);
    symlinkSync('y', path);
    assert.notEqual(plantedWords([path], folder).mark, link);
  });
});

function scene(folder: string) {
  return {
    folder,
    write(path: string, text: string | Buffer): string {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
      return join(folder, path);
    },
  };
}

function awayScene(context: TestContext) {
  const home = realpathSync(createTempHome(context).path);
  const [folder, trash] = [join(home, 'proj'), join(home, 'trash')];
  for (const path of [folder, trash, join(home, '.ssh'), join(folder, 'hooks')]) mkdirSync(path);
  writeFileSync(join(home, '.ssh/id'), 'key');
  writeFileSync(join(folder, 'hooks/post-merge'), 'evil');
  return { home, folder, trash };
}

describe('core/tools/terminal: what is taken away', () => {
  it('is never what lies behind a link', (context) => {
    const { home, folder, trash } = awayScene(context);
    symlinkSync('..', join(folder, 'link'));
    assert.throws(() => moveAway(join(folder, 'link/.ssh'), join(trash, 'x')), { code: 'path-moved' });
    const note = removedNote({ planted: [join(folder, 'link/.ssh')] });
    assert.match(note, /^\[STILL THERE, .*\.ssh/);
    assert.equal(readFileSync(join(home, '.ssh/id'), 'utf8'), 'key');
  });

  it('is a file, a folder with all in it, a link as such; what is gone is no error', (context) => {
    const { home, folder, trash } = awayScene(context);
    symlinkSync(join(home, '.ssh'), join(folder, 'hooks/to'));
    moveAway(join(folder, 'hooks'), join(trash, 'hooks'));
    moveAway(join(folder, 'hooks'), join(trash, 'again'));
    assert.ok(!existsSync(join(folder, 'hooks')));
    assert.equal(readFileSync(join(trash, 'hooks/post-merge'), 'utf8'), 'evil');
    assert.equal(readlinkSync(join(trash, 'hooks/to')), join(home, '.ssh'));
  });

  it('has a name of any length, and is told apart from what was gone already', (context) => {
    const { folder } = awayScene(context);
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
      const away = join(import.meta.dirname, '../../../src/core/tools/walls/kept-steering.ts');
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
    const { home, folder } = awayScene(context);
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
