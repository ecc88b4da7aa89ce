/** What steers later runs and is new in a folder, at any depth, and where git can be asked; no walls are needed for that. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { commandRisk } from '#core/tools/risk/command-risk.ts';
import { RunningCommands } from '#core/tools/walls/create-walls.ts';
import { viewFolder } from '#core/tools/walls/folder-view.ts';
import { FolderWatch, type Planted } from '#core/tools/walls/folder-watch.ts';
import { isGitHarmlessIn } from '#core/tools/walls/git-folders.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';

const EVIL = '[core]\n\tfsmonitor = x\n';

function scene(context: TestContext) {
  const home = realpathSync(createTempHome(context).path);
  const folder = join(home, 'proj');
  mkdirSync(folder);
  const write = (path: string, text = 'x') => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always', ...args], {
      cwd: folder,
      stdio: 'pipe',
    });
  const watch = new FolderWatch(viewFolder(folder), home, () => systemClock.now());
  const left: ReturnType<typeof watch.enter>[] = [];
  let ended: Planted | undefined;
  const enter = (opened: readonly string[] = []) => left.push(watch.enter(watch.protects().fixed, opened));
  const leave = () => {
    ended = left.pop()?.();
    const { planted, notes } = ended ?? { planted: [], notes: [] };
    return [...planted.map((path) => path.slice(folder.length + 1)), ...notes].sort();
  };
  /** What a command that does this is told to have made. */
  const made = (work: () => void) => {
    enter();
    work();
    return leave();
  };
  const tells = (work: () => void, told: readonly string[]) => assert.deepEqual(made(work), told);
  /** What the owner did not allow is taken away. */
  const refuse = () => {
    for (const path of ended?.planted ?? []) rmSync(path, { recursive: true });
    const done = ended?.planted.map((path) => ended?.fate.putBack(path));
    ended?.fate.decided([]);
    return done;
  };
  const shell = (script: string) => execFileSync('bash', ['-c', script], { cwd: folder, stdio: 'pipe' });
  return { home, folder, write, git, enter, leave, made, tells, refuse, shell, last: () => ended };
}

describe('walls: what is new and steers', () => {
  it('in the git folder, in modules at any depth, in nested repositories and subfolders', (context) => {
    const { tells, write, git } = scene(context);
    git('init', '-q', '.');
    git('init', '-q', 'vendor/lib');
    write('src/a.ts');
    const cases: readonly (readonly [path: string, text?: string])[] = [
      ['.git/commondir'],
      ['.git/modules/libs/foo/hooks/post-commit'],
      ['.git/modules/libs/bar/config', EVIL],
      ['vendor/lib/.git/hooks/pre-commit'],
      ['vendor/lib/.git/config', EVIL],
      ['src/AGENTS.md'],
      ['src/deep/er/.envrc'],
      ['.cargo/config.toml'],
      ['fake/.git', 'gitdir: ../src\n'],
      ['other/.git/config', '[core]\n\tworktree = ../../x\n'],
    ];
    for (const [path, text] of cases) tells(() => write(path, text), [path]);
    tells(() => write('src/.vscode/tasks.json'), ['src/.vscode']);
    tells(() => write('src/.vscode/tasks.json', 'y'), ['src/.vscode']);
    tells(() => write('src/b.ts'), []);
  });

  slow('not what comes with a clone, a submodule, an installed package', (context) => {
    const { tells, write, git, home } = scene(context);
    const lib = join(home, 'lib');
    mkdirSync(lib);
    writeFileSync(join(lib, 'AGENTS.md'), 'theirs');
    for (const args of [
      ['init', '-q', '.'],
      ['add', '.'],
      ['commit', '-qm', 'one'],
    ])
      git('-C', lib, ...args);
    git('init', '-q', '.');
    git('submodule', 'add', '-q', lib, 'libs/foo');
    git('commit', '-qm', 'two');
    git('submodule', 'deinit', '-q', '-f', 'libs/foo');
    tells(() => git('init', '-q', 'fresh'), []);
    tells(() => git('clone', '-q', lib, 'deep/copy'), []);
    tells(() => git('submodule', 'update', '-q', '--init'), []);
    tells(() => git('worktree', 'add', '-q', 'tree'), []);
    tells(() => write('node_modules/x/AGENTS.md'), []);
    tells(() => write('deep/copy/AGENTS.md', 'later'), ['deep/copy/AGENTS.md']);
  });

  it('a time that was set back hides no change', (context) => {
    const { tells, write, folder } = scene(context);
    write('src/AGENTS.md', 'mine');
    const path = join(folder, 'src/AGENTS.md');
    utimesSync(path, 1, 1);
    const change = () => {
      writeFileSync(path, 'evil');
      utimesSync(path, 1, 1);
    };
    tells(change, ['src/AGENTS.md']);
  });

  it('nothing outside of the folder, whatever links lead there', (context) => {
    const { tells, write, folder, home } = scene(context);
    mkdirSync(join(home, '.ssh'));
    const plant = () => {
      symlinkSync('..', join(folder, 'link'));
      write('.git/modules/evil/config', '[core]\n hooksPath = link/.ssh\n');
      write('.git/config', '[core]\n hooksPath = link/.ssh\n');
      symlinkSync('.', join(folder, '.git/info'));
      writeFileSync(join(home, 'attributes'), '');
    };
    tells(plant, ['.git/config', '.git/info', '.git/modules/evil/config']);
  });

  it('is told when another command ends, and again when it is made again; what the owner made before is not', (context) => {
    const { enter, leave, write, folder } = scene(context);
    write('src/CLAUDE.md', 'mine');
    enter();
    write('AGENTS.md');
    enter();
    assert.deepEqual(leave(), ['AGENTS.md']);
    rmSync(join(folder, 'AGENTS.md'));
    enter();
    assert.deepEqual(leave(), []);
    write('AGENTS.md', 'again');
    enter([join(folder, '.envrc')]);
    write('.envrc', 'by leave');
    assert.deepEqual(leave(), ['AGENTS.md']);
    enter();
    write('.envrc', 'without leave');
    assert.deepEqual(leave(), ['.envrc']);
    assert.deepEqual(leave(), []);
  });

  it('beside many new folders, now and later', (context) => {
    const { tells, write, folder } = scene(context);
    const crowd = () => {
      for (let i = 0; i < 700; i += 1) mkdirSync(join(folder, `f${i}`));
      write('zzz/AGENTS.md');
    };
    tells(crowd, ['zzz/AGENTS.md']);
    tells(() => renameSync(join(folder, 'f1'), join(folder, 'g1')), []);
    tells(() => write('zzz/.envrc'), ['zzz/.envrc']);
  });

  it('where names are too long or no text', (context) => {
    const { made, tells, shell, refuse } = scene(context);
    const long = () =>
      shell(
        'echo x > .envrc; mkdir -p .git/modules; cd .git/modules; for i in {1..18}; do n=$(printf "a%.0s" {1..250}); mkdir $n && cd $n; done',
      );
    assert.match(made(long).join(), /^\.envrc,\[NOT LOOKED THROUGH/);
    refuse();
    assert.match(made(() => shell('mkdir s; echo x > s/AGENTS.md')).join(), /s\/AGENTS\.md/);
    shell('rm -rf .git');
    tells(() => shell(`d=$(printf 'x\\377'); mkdir $d; echo x > $d/AGENTS.md`), ['x\ufffd']);
  });

  it('in a repository whose parts lie in the folder itself, or apart', (context) => {
    const { tells, write } = scene(context);
    const bare = () => {
      write('HEAD', 'ref: refs/heads/main\n');
      write('objects/x');
      write('refs/x');
      write('config', EVIL);
    };
    tells(bare, ['config']);
    const apart = () => {
      write('sub/HEAD', 'ref: refs/heads/main\n');
      write('sub/commondir', '../data/store');
      write('data/store/config', EVIL);
    };
    tells(apart, ['data/store/config', 'sub/commondir']);
  });

  it('in a repository that was brought and is one no more, or never was', (context) => {
    const { tells, write, git, folder } = scene(context);
    git('init', '-q', '.');
    const bring = () => {
      git('init', '-q', 'pkg');
      write('pkg/AGENTS.md');
    };
    tells(bring, []);
    tells(() => {}, []);
    tells(() => rmSync(join(folder, 'pkg/.git'), { recursive: true }), ['pkg/AGENTS.md']);
    const pretend = () => {
      for (const name of ['HEAD', 'objects', 'refs', 'AGENTS.md']) write(`bare/${name}`, '');
      write('file/.git', 'gitdir: ../.git');
      write('file/AGENTS.md');
    };
    tells(pretend, ['bare/AGENTS.md', 'file/AGENTS.md']);
  });

  it('behind links, and where settings of git name hooks and further settings', (context) => {
    const { tells, write, git, folder, home, shell } = scene(context);
    git('init', '-q', '.');
    shell('mkdir -p tools one two/x three four docs pkg/.claude/a/b/c/d/e; echo x > docs/rules.md');
    shell('echo x > tools/hook; ln -s ../../tools/hook .git/hooks/pre-commit; ln -s ../docs/rules.md pkg/CLAUDE.md');
    shell('echo x > pkg/.claude/a/b/c/d/e/SKILL.md');
    write('.git/config', '[core] hooksPath = one ; so\n[include]\n\tpath = "../tools/settings"\n');
    write('.git/config.worktree', '[core]\n hooksPath = two\\\n/x\n');
    write('tools/settings', '[core]\nhooksPath=three\n');
    writeFileSync(join(home, '.gitconfig'), '[core]\nhooksPath = four\n');
    tells(() => {}, []);
    // What is read-only for commands was changed by somebody else: here nothing is.
    const watch = new FolderWatch(viewFolder(folder), home, () => systemClock.now());
    const fixed = watch.protects().fixed.map((path) => path.slice(folder.length + 1));
    for (const one of ['tools/hook', 'tools/settings', 'one', 'two/x', 'three', 'four'])
      assert.ok(fixed.includes(one), one);
    const leave = watch.enter([], []);
    for (const one of ['tools/hook', 'docs/rules.md', 'pkg/.claude/a/b/c/d/e/SKILL.md'])
      appendFileSync(join(folder, one), 'y');
    appendFileSync(join(folder, 'tools/settings'), '\n');
    for (const one of ['one', 'two/x', 'three', 'four']) write(`${one}/pre-push`);
    write('.git/rebase-merge/git-rebase-todo', 'pick 1\nexec touch x\n');
    const told = leave().planted.map((path) => path.slice(folder.length + 1));
    assert.deepEqual(told.sort(), [
      ...['.git/rebase-merge/git-rebase-todo', 'docs/rules.md', 'four', 'one', 'pkg/.claude', 'three'],
      ...['tools/hook', 'tools/settings', 'two/x'],
    ]);
  });

  it("is the owner's after a yes, asked for again where it stays, and put back as it was after a no", (context) => {
    const { made, tells, write, folder, refuse, last, shell } = scene(context);
    shell('mkdir -p pkg/.vscode; echo mine > pkg/AGENTS.md; echo mine > pkg/.vscode/a; echo mine > pkg/CLAUDE.md');
    const change = () => shell('echo more >> pkg/AGENTS.md; rm -r pkg/.vscode; echo x > pkg/.vscode; rm pkg/CLAUDE.md');
    tells(change, ['pkg/.vscode', 'pkg/AGENTS.md']);
    assert.deepEqual(refuse(), ['done', 'done']);
    const now = ['AGENTS.md', '.vscode/a'].map((name) => readFileSync(join(folder, 'pkg', name), 'utf8'));
    assert.deepEqual(now, ['mine\n', 'mine\n']);
    const plant = () => write('.envrc');
    const nothing = () => {};
    tells(plant, ['.envrc']);
    last()?.fate.decided([]);
    tells(nothing, ['.envrc']);
    last()?.fate.stays();
    last()?.fate.decided([]);
    tells(nothing, []);
    write('.envrc', 'by the owner');
    tells(() => write('AGENTS.md'), ['AGENTS.md']);
    last()?.fate.decided([join(folder, 'AGENTS.md')]);
    assert.throws(() => made(nothing), { code: 'steering-left' });
    rmSync(join(folder, 'AGENTS.md'));
    tells(nothing, []);
  });
});

describe('walls: what holds still', () => {
  it('is what nobody who runs may write above, or has as a mount with all folders above it', (context) => {
    const { folder, write } = scene(context);
    write('.git/config');
    write('.git/info/attributes');
    symlinkSync('.git', join(folder, 'link'));
    const at = (path: string) => join(folder, path);
    const all = new RunningCommands();
    const states = () =>
      ['.git/config', '.git/info/attributes', 'link/config', '.'].map((one) => all.holdsStill(at(one)));
    assert.deepEqual(states(), [true, true, false, true]);
    const command = {
      writable: [folder],
      points: new Set([folder, at('.git'), at('.git/config'), at('.git/info/attributes')]),
    };
    all.add(command);
    assert.deepEqual(states(), [true, false, false, true]);
    const above = { writable: [dirname(folder)], points: new Set([dirname(folder)]) };
    all.add(above);
    assert.deepEqual(states(), [false, false, false, false]);
    all.remove(above);
    all.remove(command);
    assert.deepEqual(states(), [true, true, false, true]);
  });
});

const RUNS = '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch stolen; false"\n';

type Write = (path: string, text: string) => undefined;

/** Each in a folder of its own with a repository in it, and the folder that git is asked in. */
const BAD: Readonly<Record<string, (write: Write, folder: string) => string | undefined>> = {
  'settings and refs elsewhere': (write) => {
    for (const name of ['fake/objects/x', 'fake/refs/x']) write(name, 'x');
    write('fake/config', RUNS);
    write('.git/commondir', '../fake\n');
  },
  'a monitor': (write) => write('.git/config', RUNS),
  'a setting behind its section': (write) => write('.git/config', '[core] fsmonitor = "touch stolen; false"\n'),
  'an include': (write) => write('.git/config', '[include]\n\tpath = ../evil\n'),
  'a filter': (write) => write('.git/config', '[filter "x"]\n\tclean = touch stolen\n'),
  'an alias': (write) => write('.git/config', '[alias]\n\tstatus = !touch stolen\n'),
  'a line that goes on in the next': (write) => write('.git/config', '[user]\n\tname = a\\\r\n\temail = b\n'),
  'settings that are too many to be read': (write) => write('.git/config', `${'#\n'.repeat(500_000)}${RUNS}`),
  'settings behind a link': (write, folder) => {
    renameSync(join(folder, '.git/config'), join(folder, 'config'));
    symlinkSync('../config', join(folder, '.git/config'));
    write('config', RUNS);
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
    appendFileSync(join(folder, 'sub/.git/config'), RUNS);
  },
  'a repository without a folder of its own': (write, folder) => {
    renameSync(join(folder, '.git'), join(folder, 'gone'));
    for (const name of ['objects/x', 'refs/x']) write(name, 'x');
    write('HEAD', 'ref: refs/heads/main\n');
    write('config', RUNS);
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
    write('config', RUNS);
    write('.git/HEAD', 'nothing\n');
  },
  'a repository that is none, and another above': (write, folder) => {
    write('.git/config', RUNS);
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

  verifies.slow('core:terminal:no-walls', 'is none where files name what git would run', (context) => {
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
