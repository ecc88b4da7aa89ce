/** What a yes opens: the place that was asked about and nothing around it; and what stays hidden whatever lies open around it. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { makeWallsScene, noWalls, SENTINEL, type WallsScene } from '../../core/tools/walls-scene.ts';

const skip = noWalls();

const using = async (use: (scene: WallsScene) => Promise<void>, options: Parameters<typeof makeWallsScene>[0] = {}) => {
  const scene = makeWallsScene(options);
  try {
    await use(scene);
  } finally {
    await scene.close();
  }
};

/** Prints nothing where everything is as it has to be. */
const LOOK =
  'cat ~/.ssh/id_rsa ~/.aws/credentials ~/.talaria/.env ~/other/.env 2>/dev/null; ls -A /run; ls /proc | grep -c "^[0-9]" | grep -E "..";';

describe('walls: a yes', { skip: skip ?? false }, () => {
  it('to one file that is not there opens that file, and leaves none that nobody wrote', () =>
    using(async ({ run, home, base }) => {
      for (const file of [join(base, 'new'), join(home, 'new'), join(home, 'other/new'), join(home, '.ssh/new')]) {
        const lie = await run(`echo "EROFS: read-only file system, open '${file}'"; exit 1`);
        const opening = { kind: 'write', path: file } as const;
        assert.deepEqual(lie.met.openings, [opening]);
        const openings = [opening];
        const around = `( echo x > ${file}2 ) 2>/dev/null && [ ${file}2 -ef ~/new2 ] || true; true`;
        const idle = await run(`${LOOK} ${around}`, { openings });
        assert.deepEqual([idle.text, existsSync(file), existsSync(`${file}2`)], ['', false, false], file);
        assert.ok(!idle.met.notes.some((note) => note.startsWith('~/new ')), idle.met.notes.join());
        await Promise.all([run(`echo it > ${file}`, { openings }), run('true', { openings })]);
        assert.equal(readFileSync(file, 'utf8'), 'it\n');
      }
      const touched = join(home, 'other/touched');
      await run(`touch ${touched}`, { openings: [{ kind: 'write', path: touched }] });
      assert.ok(existsSync(touched));
    }));

  it('is not asked for, and opens nothing, where it would be wide', () =>
    using(async ({ run, home, base, folder }) => {
      const own = join(home, '.talaria/skills/x');
      symlinkSync(join(home, '.ssh'), join(home, 'other/link'));
      const wide = ['/', home, base, '/tmp', '/var', '/proc', '/proc/1', '/run', own, join(base, 'no/such')];
      for (const path of wide) {
        const lies = `echo "EROFS: read-only file system, open '${path}'"; echo "EACCES: no, open '${path}'"; exit 1`;
        assert.deepEqual((await run(lies)).met.openings, [], path);
        for (const kind of ['read', 'write'] as const) {
          const { text } = await run(`${LOOK} echo x > ${home}/.netrc`, { openings: [{ kind, path }] });
          assert.equal(text, '', `${kind} ${path}`);
        }
      }
      assert.equal(readFileSync(join(home, '.netrc'), 'utf8'), SENTINEL);
      const link = join(home, 'other/link');
      const asked = await run(`echo "EROFS: read-only file system, open '${link}/y'"; exit 1`);
      assert.deepEqual(asked.met.openings, [{ kind: 'write', path: join(home, '.ssh/y') }]);
      for (const kind of ['read', 'write'] as const)
        assert.equal((await run(LOOK, { openings: [{ kind, path: link }] })).text, '');
      const hidden = join(home, '.unknown-tool/shadow');
      symlinkSync('/etc/shadow', hidden);
      const { text } = await run(`cat ${hidden} 2>/dev/null`, { openings: [{ kind: 'read', path: hidden }] });
      assert.equal(text, '');
      assert.deepEqual(readdirSync(folder), []);
    }));

  it('to make a folder is a yes to the folder above, which is named', () =>
    using(async ({ run, home }) => {
      const make = `mkdir ${home}/other/made`;
      const { met } = await run(make);
      const above = { kind: 'write', path: join(home, 'other') } as const;
      assert.deepEqual(met.openings, [above]);
      assert.equal((await run(make, { openings: [above] })).exitCode, 0);
      assert.deepEqual(
        (await run(`echo "mkdir: cannot create directory '${home}/x': Read-only file system"; exit 1`)).met.openings,
        [],
      );
    }));

  it('to what git makes beside the folder is a yes to the folder above', () =>
    using(
      async ({ run, home, folder }) => {
        execFileSync('git', ['init', '-q', folder]);
        execFileSync('git', '-c user.name=t -c user.email=t@t commit -q --allow-empty -m x'.split(' '), {
          cwd: folder,
        });
        const above = { kind: 'write', path: join(home, 'work') } as const;
        for (const make of ['git worktree add ../a', 'git clone . ../b', 'git init ../c']) {
          assert.deepEqual((await run(make)).met.openings, [above], make);
          const { text, exitCode } = await run(make, { openings: [above] });
          assert.equal(exitCode, 0, text);
        }
        const { met } = await run(`echo "mkdir: cannot create directory '${home}/x': Read-only file system"; exit 1`);
        assert.match(met.notes.join(), /no yes opens all of .*sandbox\.paths/);
      },
      { project: 'work/proj' },
    ));

  it('is not asked for what lies in the folder of git, whose place is said', () =>
    using(
      async ({ run, home, folder }) => {
        const git = join(home, 'work/.git');
        execFileSync('git', ['init', '-q', join(home, 'work')]);
        const commit = 'git -c user.name=t -c user.email=t@t commit -q --allow-empty -m x';
        const { met } = await run(commit);
        assert.deepEqual(met.openings, []);
        assert.ok(met.notes.join().includes(`start in ${join(home, 'work')}, or`), met.notes.join());
        assert.ok(met.notes.join().includes(`talaria config set sandbox.paths '["${git}"]'`));
        execFileSync('git', ['init', '-q', folder]);
        const hook = await run('echo x > .git/hooks/pre-commit');
        assert.match(hook.met.notes.join(), /no yes opens \S+\/hooks\/pre-commit, which steers git/);
      },
      { project: 'work/proj' },
    ));

  it('to a folder shows no secret in it, nor lets it be moved to where it is shown', () =>
    using(async ({ run, home, write }) => {
      write('.config/plain/x', 'plain');
      write('.local/share/keyrings/y', SENTINEL);
      write('other/deep/deeper/.env', SENTINEL);
      for (const kind of ['read', 'write'] as const) {
        const openings = ['.config', '.local', 'other'].map((name) => ({ kind, path: join(home, name) }));
        const { text } = await run('cat ~/.config/plain/x; grep -rs SENTINEL ~/.config ~/.local ~/other', { openings });
        assert.equal(text, 'plain', kind);
        for (const move of ['mv ~/.local/share ~/.local/s', 'mv ~/.config/gh ~/.config/g', 'mv ~/other/deep ~/other/d'])
          assert.notEqual((await run(move, { openings })).exitCode, 0, move);
      }
      const inner = { kind: 'read', path: join(home, '.config/gh/hosts.yml') } as const;
      const both = [{ kind: 'read', path: join(home, '.config') } as const, inner];
      for (const openings of [both, both.toReversed()])
        assert.equal((await run('cat ~/.config/gh/hosts.yml', { openings })).text, SENTINEL);
    }));

  it('to the folder above does not free what steers in the folder of the session', () =>
    using(
      async ({ run, home, folder, write }) => {
        write('work/proj/AGENTS.md', 'rules');
        write('work/proj/.git/hooks/x.sample', '');
        write('work/proj/.git/config', '[core]\n');
        const openings = [{ kind: 'write', path: join(home, 'work') } as const];
        const tries = 'echo x > ../y; echo x > AGENTS.md; echo x > .git/hooks/pre-commit; mv .git g; mv ../proj ../p';
        await run(tries, { openings });
        assert.deepEqual(readdirSync(join(home, 'work')).sort(), ['proj', 'y']);
        assert.equal(readFileSync(join(folder, 'AGENTS.md'), 'utf8'), 'rules');
        assert.deepEqual(readdirSync(join(folder, '.git/hooks')), ['x.sample']);
      },
      { project: 'work/proj' },
    ));
});

describe('walls: a yes in a home that is the folder of the session', { skip: skip ?? false }, () => {
  it('opens what is hidden or fixed in it, and nothing else', () =>
    using(async ({ run, home, write }) => {
      write('.config/gh/other', SENTINEL);
      const change = { folder: home, cwd: home };
      const files = ['.npmrc', '.docker/config.json', '.config/gh/hosts.yml'].map((name) => join(home, name));
      for (const path of files) {
        const write = `echo mine > ${path} && cat ${path}`;
        await run(write, change);
        assert.equal(readFileSync(path, 'utf8'), SENTINEL, path);
        const opened = await run(write, { ...change, openings: [{ kind: 'write', path }] });
        assert.equal(opened.text, 'mine\n', path);
        assert.equal(readFileSync(path, 'utf8'), 'mine\n');
      }
      const openings = files.map((path) => ({ kind: 'write', path }) as const);
      const { text } = await run('cat .ssh/id_rsa .config/gh/other .aws/credentials; mv .config c; mv .ssh s', {
        ...change,
        openings,
      });
      assert.ok(!text.includes(SENTINEL) && !existsSync(join(home, 'c')) && !existsSync(join(home, 's')), text);
    }));
});

describe('walls: what no opening shows', { skip: skip ?? false }, () => {
  it('secrets in folders of tools, and files named like keys deep in the home', () =>
    using(async ({ run, write }) => {
      const secrets = ['.config/git/credentials', '.local/share/uv/credentials/x', 'a/b/c/d/e/.env', 'a/b/c/.env'];
      for (const path of secrets) write(path, SENTINEL);
      for (let n = 0; n < 50; n += 1) write(`many/p${n}/deep/.env`, SENTINEL);
      for (const path of ['.config/git/config', '.local/share/uv/python/x', 'a/b/c/plain']) write(path, 'plain ');
      const { text } = await run(
        'cat ~/.config/git/config ~/.local/share/uv/python/x ~/a/b/c/plain ; grep -rs SENTINEL ~; true',
      );
      assert.equal(text, 'plain plain plain ');
    }));

  const OWN = ['home/seal', '.home-restoring-12ab/seal', '.home-restoring.json', 'home.before-2026-11-23/seal'];
  const keepsOwn = async ({ run, home, write }: WallsScene) => {
    for (const path of OWN) write(`code/deep/${path}`, SENTINEL);
    const tries = 'mv ~/code/deep ~/code/d; rm -r ~/code/deep; for f in ~/code/deep/*; do echo x > $f/x; done';
    const { text } = await run(`grep -rs SENTINEL ~/code; ${tries}; grep -rs SENTINEL ~/code`);
    assert.ok(!text.includes(SENTINEL), text);
    for (const path of OWN) assert.equal(readFileSync(join(home, 'code/deep', path), 'utf8'), SENTINEL);
  };
  const own = 'code/deep/home';
  for (const options of [{ own }, { own, project: 'code' }, { own, paths: ['~/code'] }, { own, paths: ['~'] }])
    it(`the agent's own home and what a restore leaves beside it: ${JSON.stringify(options)}`, () =>
      using(keepsOwn, options));
});

describe('walls: doors of other programs', { skip: skip ?? false }, () => {
  const SERVE = `import socket,sys
s=socket.socket(socket.AF_UNIX);s.bind(sys.argv[1]);s.listen();print('up',flush=True)
while 1: s.accept()`;
  const ask = (path: string) =>
    `python3 -c "import socket;socket.socket(socket.AF_UNIX).connect('${path}');print('in')" 2>/dev/null || echo out`;

  it('bound by a relative path, in another network, or a pipe: there when the session begins, they lead nowhere', () =>
    using(async ({ run, home }) => {
      const room = join(home, 'app');
      mkdirSync(room);
      execFileSync('mkfifo', [join(room, 'pipe')]);
      const started: ChildProcess[] = [];
      const serve = (name: string, before: readonly string[] = []) => {
        const [program = '', ...rest] = [...before, 'python3', '-c', SERVE, name];
        const child = spawn(program, rest, { cwd: room, stdio: ['ignore', 'pipe', 'inherit'] });
        started.push(child);
        return new Promise((resolve) => child.stdout?.once('data', resolve));
      };
      try {
        await serve('relative');
        await serve(join(room, 'elsewhere'), ['unshare', '-rn']);
        for (const name of ['relative', 'elsewhere'])
          assert.equal((await run(ask(join(room, name)))).text, 'out\n', name);
        const pipe = await run('[ -p ~/app/pipe ] && echo pipe; ls ~/app');
        assert.ok(!pipe.text.includes('pipe\npipe'), pipe.text);
      } finally {
        for (const child of started) child.kill('SIGKILL');
      }
    }));
});
