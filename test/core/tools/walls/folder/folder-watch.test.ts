/** What steers later runs and is new in a folder, at any depth; no walls are needed for that. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { viewFolder } from '#core/tools/walls/folder/folder-view.ts';
import { watchFolder } from '#core/tools/walls/folder/folder-watch.ts';
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
  const enter = (opened: readonly string[] = []) => left.push(watch.enter(watch.protects().fixed, opened));
  const leave = () => {
    const { planted, notes } = left.pop()?.() ?? { planted: [], notes: [] };
    return [...planted.map((path) => path.slice(folder.length + 1)), ...notes].sort();
  };
  /** What a command that does this is told to have made. */
  const made = (work: () => void) => {
    enter();
    work();
    return leave();
  };
  return { home, folder, write, git, enter, leave, made };
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

  it('many new folders are not looked through in silence', (context) => {
    const { made, folder } = scene(context);
    const crowd = () => {
      for (let i = 0; i < 700; i += 1) mkdirSync(join(folder, `f${i}`));
    };
    assert.match(made(crowd).join(), /not all of the many new folders/);
    assert.deepEqual(
      made(() => renameSync(join(folder, 'f1'), join(folder, 'g1'))),
      [],
    );
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
