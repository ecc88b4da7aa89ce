/** Folders that git would run something in when it is asked no more than `git status`. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { commandRisk } from '#core/tools/risk/command-risk.ts';
import { isGitHarmlessIn } from '#core/tools/walls/plain-repository.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';

const EVIL = '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch stolen; false"\n';

type Write = (path: string, text: string) => undefined;

/** Each in a folder of its own with a repository in it, and the folder that git is asked in. */
const BAD: Readonly<Record<string, (write: Write, folder: string) => string | undefined>> = {
  'settings and refs elsewhere': (write) => {
    for (const name of ['fake/objects/x', 'fake/refs/x']) write(name, 'x');
    write('fake/config', EVIL);
    write('.git/commondir', '../fake\n');
  },
  'a monitor': (write) => write('.git/config', EVIL),
  'a setting behind its section': (write) => write('.git/config', '[core] fsmonitor = "touch stolen; false"\n'),
  'an include': (write) => write('.git/config', '[include]\n\tpath = ../evil\n'),
  'a filter': (write) => write('.git/config', '[filter "x"]\n\tclean = touch stolen\n'),
  'an alias': (write) => write('.git/config', '[alias]\n\tstatus = !touch stolen\n'),
  'a line that goes on in the next': (write) => write('.git/config', '[user]\n\tname = a\\\r\n\temail = b\n'),
  'settings that are too many to be read': (write) => write('.git/config', `${'#\n'.repeat(500_000)}${EVIL}`),
  'settings behind a link': (write, folder) => {
    renameSync(join(folder, '.git/config'), join(folder, 'config'));
    symlinkSync('../config', join(folder, '.git/config'));
    write('config', EVIL);
  },
  'a file that names a folder': (_, folder) => {
    renameSync(join(folder, '.git'), join(folder, 'other'));
    writeFileSync(join(folder, '.git'), 'gitdir: other\n');
  },
  'a link': (_, folder) => {
    renameSync(join(folder, '.git'), join(folder, 'other'));
    symlinkSync('other', join(folder, '.git'));
  },
  'a hook that reading runs': (write) => write('.git/hooks/post-index-change', '#!/bin/sh\n'),
  'a submodule': (_, folder) => {
    execFileSync('git', ['init', '-q', 'sub'], { cwd: folder });
    const empty = ['-c', 'user.name=a', '-c', 'user.email=a', 'commit', '-q', '--allow-empty', '-m', 'x'];
    execFileSync('git', empty, { cwd: join(folder, 'sub') });
    execFileSync('git', ['add', 'sub'], { cwd: folder, stdio: 'ignore' });
    appendFileSync(join(folder, 'sub/.git/config'), EVIL);
  },
  'a repository without a folder of its own': (write, folder) => {
    renameSync(join(folder, '.git'), join(folder, 'gone'));
    for (const name of ['objects/x', 'refs/x']) write(name, 'x');
    write('HEAD', 'ref: refs/heads/main\n');
    write('config', EVIL);
  },
  'the same above': (write, folder) => {
    renameSync(join(folder, '.git'), join(folder, 'gone'));
    write('HEAD', 'ref: refs/heads/main\n');
    write('commondir', 'fake\n');
    write('inner/a.txt', 'x');
    return join(folder, 'inner');
  },
  'the same behind a repository that is none': (write) => {
    for (const name of ['objects/x', 'refs/x']) write(name, 'x');
    write('HEAD', 'ref: refs/heads/main\n');
    write('config', EVIL);
    write('.git/HEAD', 'nothing\n');
  },
  'a repository that is none, and another above': (write, folder) => {
    write('.git/config', EVIL);
    write('inner/.git/HEAD', 'nothing\n');
    for (const name of ['objects/x', 'refs/x']) write(`inner/.git/${name}`, 'x');
    return join(folder, 'inner');
  },
};

describe('walls: a repository in which git runs nothing', () => {
  const walls = { kind: 'none', detail: 'a test' } as const;
  const statusIn = (cwd: string) =>
    commandRisk('git status', { cwd, home: '/home/u', walls, path: '/usr/bin', exists: () => true }).level;

  it('is a fresh one, a clone, a folder in one, and none at all', (context) => {
    const { base, folder } = repository(createTempHome(context).path);
    execFileSync('git', ['clone', '-q', folder, 'clone'], { cwd: base, stdio: 'ignore' });
    mkdirSync(join(folder, 'a/b'), { recursive: true });
    for (const cwd of [folder, join(base, 'clone'), join(folder, 'a/b'), base, '/not/there'])
      assert.deepEqual([isGitHarmlessIn(cwd), statusIn(cwd)], [true, 'none'], cwd);
  });

  verifies('core:terminal:no-walls', 'is none where files name what git would run', (context) => {
    const home = createTempHome(context).path;
    const missed = Object.entries(BAD).filter(([, make]) => {
      const { folder, write } = repository(home);
      const cwd = make(write, folder) ?? folder;
      return isGitHarmlessIn(cwd) || statusIn(cwd) !== 'ask';
    });
    assert.deepEqual(
      missed.map(([name]) => name),
      [],
    );
  });
});

function repository(home: string) {
  const base = mkdtempSync(join(home, 'repository-'));
  const folder = join(base, 'folder');
  mkdirSync(folder);
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: folder });
  const write: Write = (path, text) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    return undefined;
  };
  return { base, folder, write };
}
