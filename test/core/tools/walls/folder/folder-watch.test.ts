/** What steers later runs and is new in a folder, at any depth; no walls are needed for that. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
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
import { viewFolder } from '#core/tools/walls/folder/folder-view.ts';
import { type Planted, watchFolder } from '#core/tools/walls/folder/folder-watch.ts';
import { RunningCommands } from '#core/tools/walls/folder/running.ts';
import { createTempHome } from '#testing/temp-home.ts';

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
  const watch = watchFolder(viewFolder(folder), home, () => systemClock.now());
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
  /** What the owner did not allow is taken away. */
  const refuse = () => {
    for (const path of ended?.planted ?? []) rmSync(path, { recursive: true });
    const done = ended?.planted.map((path) => ended?.fate.putBack(path));
    ended?.fate.decided([]);
    return done;
  };
  const shell = (script: string) => execFileSync('bash', ['-c', script], { cwd: folder, stdio: 'pipe' });
  return { home, folder, write, git, enter, leave, made, refuse, shell, last: () => ended };
}

describe('walls: what is new and steers', () => {
  it('in the git folder, in modules at any depth, in nested repositories and subfolders', (context) => {
    const { made, write, git } = scene(context);
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
    for (const [path, text] of cases)
      assert.deepEqual(
        made(() => write(path, text)),
        [path],
      );
    assert.deepEqual(
      made(() => write('src/.vscode/tasks.json')),
      ['src/.vscode'],
    );
    assert.deepEqual(
      made(() => write('src/.vscode/tasks.json', 'y')),
      ['src/.vscode'],
    );
    assert.deepEqual(
      made(() => write('src/b.ts')),
      [],
    );
  });

  it('not what comes with a clone, a submodule, an installed package', (context) => {
    const { made, write, git, home } = scene(context);
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
    assert.deepEqual(
      made(() => git('init', '-q', 'fresh')),
      [],
    );
    assert.deepEqual(
      made(() => git('clone', '-q', lib, 'deep/copy')),
      [],
    );
    assert.deepEqual(
      made(() => git('submodule', 'update', '-q', '--init')),
      [],
    );
    assert.deepEqual(
      made(() => git('worktree', 'add', '-q', 'tree')),
      [],
    );
    assert.deepEqual(
      made(() => write('node_modules/x/AGENTS.md')),
      [],
    );
    assert.deepEqual(
      made(() => write('deep/copy/AGENTS.md', 'later')),
      ['deep/copy/AGENTS.md'],
    );
  });

  it('a time that was set back hides no change', (context) => {
    const { made, write, folder } = scene(context);
    write('src/AGENTS.md', 'mine');
    const path = join(folder, 'src/AGENTS.md');
    utimesSync(path, 1, 1);
    const change = () => {
      writeFileSync(path, 'evil');
      utimesSync(path, 1, 1);
    };
    assert.deepEqual(made(change), ['src/AGENTS.md']);
  });

  it('nothing outside of the folder, whatever links lead there', (context) => {
    const { made, write, folder, home } = scene(context);
    mkdirSync(join(home, '.ssh'));
    const plant = () => {
      symlinkSync('..', join(folder, 'link'));
      write('.git/modules/evil/config', '[core]\n hooksPath = link/.ssh\n');
      write('.git/config', '[core]\n hooksPath = link/.ssh\n');
      symlinkSync('../..', join(folder, '.git/info'));
      writeFileSync(join(home, 'attributes'), '');
    };
    assert.deepEqual(made(plant), ['.git/config', '.git/info', '.git/modules/evil/config']);
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
    const { made, write, folder } = scene(context);
    const crowd = () => {
      for (let i = 0; i < 700; i += 1) mkdirSync(join(folder, `f${i}`));
      write('zzz/AGENTS.md');
    };
    assert.deepEqual(made(crowd), ['zzz/AGENTS.md']);
    assert.deepEqual(
      made(() => renameSync(join(folder, 'f1'), join(folder, 'g1'))),
      [],
    );
    assert.deepEqual(
      made(() => write('zzz/.envrc')),
      ['zzz/.envrc'],
    );
  });

  it('where names are too long or no text', (context) => {
    const { made, shell, refuse } = scene(context);
    const long = () =>
      shell(
        'echo x > .envrc; mkdir -p .git/modules; cd .git/modules; for i in {1..18}; do n=$(printf "a%.0s" {1..250}); mkdir $n && cd $n; done',
      );
    assert.match(made(long).join(), /^\.envrc,\[NOT LOOKED THROUGH/);
    refuse();
    assert.match(made(() => shell('mkdir s; echo x > s/AGENTS.md')).join(), /s\/AGENTS\.md/);
    shell('rm -rf .git');
    assert.deepEqual(
      made(() => shell(`d=$(printf 'x\\377'); mkdir $d; echo x > $d/AGENTS.md`)),
      ['x\ufffd'],
    );
  });

  it('in a repository whose parts lie in the folder itself, or apart', (context) => {
    const { made, write } = scene(context);
    const bare = () => {
      write('HEAD', 'ref: refs/heads/main\n');
      write('objects/x');
      write('refs/x');
      write('config', EVIL);
    };
    assert.deepEqual(made(bare), ['config']);
    const apart = () => {
      write('sub/HEAD', 'ref: refs/heads/main\n');
      write('sub/commondir', '../data/store');
      write('data/store/config', EVIL);
    };
    assert.deepEqual(made(apart), ['data/store/config', 'sub/commondir']);
  });

  it('in a repository that was brought and is one no more, or never was', (context) => {
    const { made, write, git, folder } = scene(context);
    git('init', '-q', '.');
    const bring = () => {
      git('init', '-q', 'pkg');
      write('pkg/AGENTS.md');
    };
    assert.deepEqual(made(bring), []);
    assert.deepEqual(
      made(() => {}),
      [],
    );
    assert.deepEqual(
      made(() => rmSync(join(folder, 'pkg/.git'), { recursive: true })),
      ['pkg/AGENTS.md'],
    );
    const pretend = () => {
      for (const name of ['HEAD', 'objects', 'refs', 'AGENTS.md']) write(`bare/${name}`, '');
      write('file/.git', 'gitdir: ../.git');
      write('file/AGENTS.md');
    };
    assert.deepEqual(made(pretend), ['bare/AGENTS.md', 'file/AGENTS.md']);
  });

  it('behind links, and where settings of git name hooks and further settings', (context) => {
    const { made, write, git, folder, home, shell } = scene(context);
    git('init', '-q', '.');
    shell('mkdir -p tools one two/x three four docs pkg/.claude/a/b/c/d/e; echo x > docs/rules.md');
    shell('echo x > tools/hook; ln -s ../../tools/hook .git/hooks/pre-commit; ln -s ../docs/rules.md pkg/CLAUDE.md');
    shell('echo x > pkg/.claude/a/b/c/d/e/SKILL.md');
    write('.git/config', '[core] hooksPath = one ; so\n[include]\n\tpath = "../tools/settings"\n');
    write('.git/config.worktree', '[core]\n hooksPath = two\\\n/x\n');
    write('tools/settings', '[core]\nhooksPath=three\n');
    writeFileSync(join(home, '.gitconfig'), '[core]\nhooksPath = four\n');
    assert.deepEqual(
      made(() => {}),
      [],
    );
    // What is read-only for commands was changed by somebody else: here nothing is.
    const watch = watchFolder(viewFolder(folder), home, () => systemClock.now());
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
    const { made, write, folder, refuse, last, shell } = scene(context);
    shell('mkdir -p pkg/.vscode; echo mine > pkg/AGENTS.md; echo mine > pkg/.vscode/a; echo mine > pkg/CLAUDE.md');
    const change = () => shell('echo more >> pkg/AGENTS.md; rm -r pkg/.vscode; echo x > pkg/.vscode; rm pkg/CLAUDE.md');
    assert.deepEqual(made(change), ['pkg/.vscode', 'pkg/AGENTS.md']);
    assert.deepEqual(refuse(), ['done', 'done']);
    const now = ['AGENTS.md', '.vscode/a'].map((name) => readFileSync(join(folder, 'pkg', name), 'utf8'));
    assert.deepEqual(now, ['mine\n', 'mine\n']);
    const plant = () => write('.envrc');
    const nothing = () => {};
    assert.deepEqual(made(plant), ['.envrc']);
    last()?.fate.decided([]);
    assert.deepEqual(made(nothing), ['.envrc']);
    last()?.fate.stays();
    last()?.fate.decided([]);
    assert.deepEqual(made(nothing), []);
    write('.envrc', 'by the owner');
    assert.deepEqual(
      made(() => write('AGENTS.md')),
      ['AGENTS.md'],
    );
    last()?.fate.decided([join(folder, 'AGENTS.md')]);
    assert.throws(() => made(nothing), { code: 'steering-left' });
    rmSync(join(folder, 'AGENTS.md'));
    assert.deepEqual(made(nothing), []);
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
