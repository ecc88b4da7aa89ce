// What commands did to a folder without naming a file is shown, kept and taken back: real files, a real store, scripted turns.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { createWalls } from '#core/tools/walls/create-walls.ts';
import type { Walls } from '#core/tools/walls/walls.ts';
import type { Approver, TurnEvent } from '#public/talaria.ts';
import type { App } from '#surfaces/app/app.ts';
import { createScriptedModel, type ScriptedCall } from '#testing/scripted-model.ts';
import { slow } from '../../../slow.ts';
import { createStage, openConversation, play, runCommand, type Stage } from '../app-fixture.ts';

const yes: Approver = { approve: async () => ({ decision: 'once' }) };

interface Scene {
  readonly stage: Stage;
  readonly app: App;
  path(name: string): string;
  read(name: string): string;
  write(name: string, text: string | Buffer, mode?: number): void;
  /** One turn of terminal calls. */
  turn(...commands: readonly (string | { readonly command: string; readonly background: boolean })[]): Promise<{
    readonly changes: readonly string[];
    readonly notices: readonly string[];
  }>;
  undo(): Promise<string>;
  diff(): Promise<string>;
}

async function open(t: TestContext, isEnclosed = false): Promise<Scene> {
  const stage = createStage(t);
  const queue: (ScriptedCall | string)[] = [];
  const client = createScriptedModel(
    Array.from({ length: 60 }, () => () => {
      const next = queue.shift() ?? 'done';
      return typeof next === 'string' ? next : { calls: [next] };
    }),
    {},
  );
  const walls = isEnclosed ? { walls: wallsFor(stage.temp.path, stage.root) } : {};
  const app = await stage.open({ extra: { client, ...walls } });
  const talk = await openConversation(app, { approver: yes });
  const path = (name: string) => join(stage.cwd, name);
  return {
    stage,
    app,
    path,
    read: (name) => readFileSync(path(name), 'utf8'),
    write: (name, text, mode = 0o644) => {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), text, { mode });
      chmodSync(path(name), mode);
    },
    turn: async (...commands) => {
      const calls = commands.map((one) => (typeof one === 'string' ? { command: one } : one));
      queue.push(...calls.map((args) => ({ name: 'terminal', arguments: args })), 'done');
      const { events } = await play(talk, 'go on');
      const of = <Type extends TurnEvent['type']>(type: Type) =>
        events.filter((event): event is Extract<TurnEvent, { type: Type }> => event.type === type);
      return {
        changes: of('file-change').map(
          ({ kind, path: name, unkept }) => `${kind} ${name}${unkept ? ` (${unkept})` : ''}`,
        ),
        notices: of('notice').map(({ text }) => text),
      };
    },
    undo: async () => {
      await talk.close();
      return (await runCommand(stage, 'undo')).text;
    },
    diff: async () => (await runCommand(stage, 'diff')).text,
  };
}

function wallsFor(userHome: string, dataHome: string): Walls {
  return createWalls({ mode: 'auto', env: process.env, userHome, dataHome, paths: [], hosts: [], clock: systemClock });
}

const hasWalls = wallsFor('/nowhere', '/nowhere/home').state().kind === 'walls';
const skip = hasWalls ? false : 'skipped: bubblewrap is missing (apt install bubblewrap)';

/** Everything below a folder: kind, mode and content. */
function treeOf(root: string, folder = root): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      const name = relative(root, path);
      if (entry.isDirectory()) return [`${name}/`, ...treeOf(root, path)];
      if (entry.isSymbolicLink()) return [`${name} -> ${readlinkSync(path)}`];
      return [`${name} ${(statSync(path).mode & 0o777).toString(8)} ${readFileSync(path).toString('base64')}`];
    })
    .sort();
}

/** A folder with one of everything that a command may get at. */
function fill({ write, path }: Scene): void {
  write('src/a.js', 'let a\n');
  write('src/deep/b.js', 'let b\n');
  write('run.sh', 'echo hi\n', 0o755);
  write('plain.txt', 'plain\n', 0o640);
  write('bytes.bin', Buffer.from([0, 1, 2, 255]));
  mkdirSync(path('empty'));
  symlinkSync('plain.txt', path('link'));
  write('docs/one.md', '# one\n');
}

describe('undo of what commands did', () => {
  const WAYS: Readonly<Record<string, string>> = {
    'a formatter rewrites files': `for f in src/a.js src/deep/b.js; do printf 'const x;\\n' > $f; done`,
    'a script deletes the folder': 'find . -mindepth 1 -delete',
    'modes change': 'chmod 600 run.sh; chmod +x plain.txt',
    'files and folders are new': 'mkdir -p out/sub; printf x > out/sub/x; printf y > y; mkdir none',
    'a file becomes a link': 'rm plain.txt; ln -s /etc/passwd plain.txt',
    'a file becomes a folder': 'rm plain.txt; mkdir -p plain.txt/in; printf z > plain.txt/in/z',
    'a folder becomes a file': 'rm -r src; printf f > src',
    'a folder becomes a link': 'mv src moved; ln -s moved src',
    'a link leads elsewhere': 'ln -sfn run.sh link',
    'times are set back': `touch -r src/a.js stamp; printf 'let z\\n' > src/a.js; touch -r stamp src/a.js; rm stamp`,
    'everything moves': 'mkdir new; mv src docs run.sh bytes.bin new/; rmdir empty',
  };
  for (const [name, command] of Object.entries(WAYS))
    test(`${name}: all of it is told and comes back`, async (t) => {
      const scene = await open(t);
      fill(scene);
      const before = treeOf(scene.stage.cwd);
      scene.write('task.sh', command);
      const { changes, notices } = await scene.turn('bash task.sh');
      rmSync(scene.path('task.sh'), { force: true });
      const text = await scene.undo();
      rmSync(scene.path('task.sh'), { force: true });
      assert.deepEqual(treeOf(scene.stage.cwd), before, text);
      assert.notEqual(changes.length, 0);
      assert.deepEqual(notices, []);
    });

  const THERE_AND_BACK: Readonly<Record<string, readonly string[]>> = {
    'a branch is left and taken again': ['git checkout -q master', 'git checkout -q other'],
    'changes are stashed and popped': ['git stash -q', 'git stash pop -q'],
    'a file moves and moves back': ['mv a.txt test/b.txt', 'mv test/b.txt a.txt'],
    'what is built is cleaned': ['bash build.sh', 'bash clean.sh'],
    'a folder is removed by name and checked out': ['rm -rf test', 'git checkout -q test'],
  };
  for (const [name, commands] of Object.entries(THERE_AND_BACK))
    test(`${name}: undo touches nothing and says so, and the next one means the turn before`, async (t) => {
      const scene = await open(t);
      scene.write('a.txt', 'a\n');
      scene.write('test/a.test.js', 'a\n');
      scene.write('build.sh', 'mkdir dist; echo 1 > dist/out.js');
      scene.write('clean.sh', 'rm -r dist');
      const git = 'git -c user.name=n -c user.email=e';
      const setUp = [
        ...['git init -q -b master', 'git add .', `${git} commit -qm one`, 'git checkout -qb other'],
        ...['echo n > n.txt', 'git add n.txt', `${git} commit -qm two`],
        'git config user.name n; git config user.email e',
      ];
      execFileSync('bash', ['-ec', setUp.join('\n')], { cwd: scene.stage.cwd });
      const files = () => treeOf(scene.stage.cwd).filter((line) => !line.startsWith('.git/'));
      const oldest = files();
      await scene.turn(`bash -c 'echo more >> a.txt'`);
      const before = name.startsWith('a branch') ? oldest : files();
      if (before === oldest) execFileSync('git', ['checkout', '-q', 'a.txt'], { cwd: scene.stage.cwd });
      await scene.turn(...commands);
      assert.deepEqual(files(), before);
      assert.match(
        await scene.undo(),
        /^The turn left its files as they were before it.*\n.*takes back turn 1: a\.txt$/m,
      );
      assert.deepEqual(files(), before);
      await scene.undo();
      assert.deepEqual(files(), oldest);
    });

  test('what a turn changed and changed back is its owner’s again, also where a call in the background began it', async (t) => {
    const scene = await open(t);
    scene.write('a.txt', 'a\n');
    scene.write('b.txt', 'b\n');
    const far = join(scene.stage.temp.path, 'far.txt');
    writeFileSync(far, 'far\n');
    await scene.turn(
      { command: `echo other > ${far}`, background: true },
      `bash -c 'until grep -q other ${far}; do sleep 0.02; done; echo 1 > a.txt; echo 2 > b.txt'`,
      `echo far > ${far}; bash -c 'echo a > a.txt'`,
    );
    scene.write('a.txt', 'mine\n');
    assert.match(await scene.undo(), /^restored b\.txt$/m);
    assert.deepEqual([scene.read('a.txt'), scene.read('b.txt'), readFileSync(far, 'utf8')], ['mine\n', 'b\n', 'far\n']);
  });

  slow('behind walls a command runs unasked, and all that it changed in the folder comes back', { skip }, async (t) => {
    const scene = await open(t, true);
    fill(scene);
    const before = treeOf(scene.stage.cwd);
    scene.write(
      'task.sh',
      'rm -r src docs; echo x > plain.txt; mkdir new; echo y > new/y; ln -sfn new link; chmod 700 run.sh',
    );
    const { changes, notices } = await scene.turn('bash task.sh; rm task.sh; exit 3');
    const told = [...changes, ...notices].join('\n');
    assert.ok(changes.includes('deleted src/deep/b.js') && changes.includes('created new/y'), told);
    const text = await scene.undo();
    rmSync(scene.path('task.sh'), { force: true });
    assert.deepEqual(treeOf(scene.stage.cwd), before, text);
  });

  test('a file that was changed since is refused with the reason, and nothing is touched', async (t) => {
    const scene = await open(t);
    fill(scene);
    scene.write('task.sh', 'for f in src/*.js docs/*; do echo // >> $f; done; echo new > made.txt');
    await scene.turn('bash task.sh');
    scene.write('docs/one.md', 'mine\n');
    const before = treeOf(scene.stage.cwd);
    assert.match(await scene.undo(), /Nothing was undone: docs\/one\.md was changed since/);
    assert.deepEqual(treeOf(scene.stage.cwd), before);
  });

  test('what the owner wrote between commands is nobody’s change; what he wrote while one ran is kept aside', async (t) => {
    const scene = await open(t);
    fill(scene);
    const { changes } = await scene.turn('true');
    assert.deepEqual(changes, []);
    scene.write('docs/one.md', 'the owner\n');
    scene.write('task.sh', 'echo script > plain.txt; echo "while it ran" > docs/two.md');
    const second = await scene.turn('bash task.sh');
    assert.deepEqual(second.changes, ['changed plain.txt', 'created docs/two.md']);
    const text = await scene.undo();
    assert.match(text, /restored plain\.txt\nremoved docs\/two\.md\nwhat stood there is kept for 30 days in /);
    assert.equal(scene.read('docs/one.md'), 'the owner\n');
    assert.equal(scene.read('plain.txt'), 'plain\n');
    const aside = /days in (.*)/.exec(text)?.[1] ?? '';
    const kept = readdirSync(aside).map((name) => readFileSync(join(aside, name), 'utf8'));
    assert.ok(kept.includes('while it ran\n'));
  });

  test('git’s own records, node_modules and what .gitignore names are not told; small ignored files come back', async (t) => {
    const scene = await open(t);
    scene.write('.gitignore', 'out/\n*.log\n');
    scene.write('keep.log', 'old\n');
    scene.write('a.txt', 'a\n');
    scene.write(
      'task.sh',
      'mkdir -p .git out node_modules/x; echo 1 > .git/x; echo 2 > out/o; echo 3 > node_modules/x/y; echo new > keep.log',
    );
    const { changes } = await scene.turn('bash task.sh');
    assert.deepEqual(changes, []);
    const text = await scene.undo();
    assert.equal(scene.read('keep.log'), 'old\n');
    assert.equal(existsSync(scene.path('out')), false, text);
    assert.equal(existsSync(scene.path('.git/x')), true);
    assert.equal(existsSync(scene.path('node_modules/x/y')), true);
  });

  test('a folder that .gitignore names is closed beyond 500 files: nothing in it is taken for deleted or new', async (t) => {
    const scene = await open(t);
    scene.write('.gitignore', 'dist\n');
    scene.write('a.txt', 'a\n');
    for (let i = 0; i < 400; i += 1) scene.write(`dist/${i}.js`, 'x');
    scene.write('task.sh', 'for i in $(seq 400 700); do echo y > dist/$i.js; done; echo b > a.txt');
    const { changes, notices } = await scene.turn('bash task.sh');
    assert.deepEqual([changes, notices], [['changed a.txt'], []]);
    await scene.undo();
    assert.equal(scene.read('a.txt'), 'a\n');
    assert.equal(readdirSync(scene.path('dist')).length, 701);
  });

  test('what is too large is said once, and again when it changes', async (t) => {
    const scene = await open(t);
    scene.write('big.bin', Buffer.alloc(1024 ** 2 + 1));
    scene.write('small.txt', 'a\n');
    scene.write('task.sh', 'echo more >> big.bin; echo b > small.txt');
    const first = await scene.turn('true', 'bash task.sh');
    assert.deepEqual(first.notices, [
      '1 file here is too many or too large to be kept: /undo cannot bring back what commands change there',
    ]);
    assert.deepEqual(first.changes, ['changed big.bin (it was larger than 1 MB)', 'changed small.txt']);
    assert.deepEqual((await scene.turn('true')).notices, []);
    const text = await scene.undo();
    assert.match(text, /big\.bin stays as it is, nothing of it was kept: it was larger than 1 MB/);
    assert.equal(scene.read('small.txt'), 'a\n');
    assert.equal(statSync(scene.path('big.bin')).size, 1024 ** 2 + 6);
  });

  slow('a command in the background is compared when the turn ends, beside what others did meanwhile', async (t) => {
    const scene = await open(t);
    fill(scene);
    const before = treeOf(scene.stage.cwd);
    const { stage } = scene;
    const flag = join(stage.temp.path, 'flag');
    await scene.turn(
      {
        command: `bash -c 'echo 1 > src/a.js; while [ ! -e ${flag} ]; do sleep 0.02; done; echo 2 > late.txt; touch ${flag}2; sleep 100'`,
        background: true,
      },
      `bash -c 'echo 3 > docs/one.md; touch ${flag}; while [ ! -e ${flag}2 ]; do sleep 0.02; done'`,
    );
    const text = await scene.undo();
    assert.deepEqual(treeOf(stage.cwd), before, text);
  });

  test('two turns are taken back one after the other, and diff shows both', async (t) => {
    const scene = await open(t);
    scene.write('a.txt', 'one\n');
    const run = (text: string) => `bash -c 'echo ${text} > a.txt; echo ${text} > ${text}.txt'`;
    await scene.turn(run('two'));
    await scene.turn(run('three'), run('four'));
    assert.match(await scene.diff(), /-one\n\+four\n(?:.*\n)*.*4 files, \+4 -1/);
    assert.match(
      await scene.undo(),
      /restored a\.txt\n(?:.*\n)*The next talaria undo takes back turn 1: a\.txt and 1 more file/,
    );
    assert.equal(scene.read('a.txt'), 'two\n');
    assert.match(await scene.undo(), /restored a\.txt/);
    assert.deepEqual(treeOf(scene.stage.cwd).length, 1);
    assert.equal(scene.read('a.txt'), 'one\n');
  });

  test('a link that is put in the place of a folder is not read through', async (t) => {
    const scene = await open(t);
    fill(scene);
    const secret = join(scene.stage.temp.path, 'secret');
    mkdirSync(secret);
    writeFileSync(join(secret, 'a.js'), 'SECRET\n');
    scene.write('task.sh', `rm -r src; ln -s ${secret} src; rm plain.txt; ln -s ${secret}/a.js plain.txt`);
    await scene.turn('bash task.sh');
    const copies = join(scene.stage.root, 'checkpoints');
    for (const session of readdirSync(copies))
      for (const name of readdirSync(join(copies, session)))
        assert.doesNotMatch(readFileSync(join(copies, session, name), 'utf8'), /SECRET/);
    await scene.undo();
    assert.equal(scene.read('src/a.js'), 'let a\n');
    assert.equal(lstatSync(scene.path('src')).isDirectory(), true);
    assert.equal(readFileSync(join(secret, 'a.js'), 'utf8'), 'SECRET\n');
  });
});
