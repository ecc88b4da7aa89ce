import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { makeWallsScene, noWalls, SECRETS, SENTINEL, type WallsScene } from '../../core/tools/walls-scene.ts';
import { until } from '../../ends.ts';
import { verifies } from '../../verifies.ts';

const skip = noWalls();
const isRoot = process.getuid?.() === 0;
const OTHER_USER = 12_345;

const using = async (use: (scene: WallsScene) => Promise<void>, options: Parameters<typeof makeWallsScene>[0] = {}) => {
  const scene = makeWallsScene(options);
  try {
    await use(scene);
  } finally {
    await scene.close();
  }
};

describe('walls: what is seen', { skip: skip ?? false }, () => {
  verifies('core:walls:secrets-hidden', 'hides every secret, one by one and in a search over everything', () =>
    using(async ({ run, home, base }) => {
      const tries = SECRETS.flatMap((path) => [`cat '${home}/${path}'`, `cat ~/'${path}'`, `cp ~/'${path}' got`]);
      const { text } = await run(tries.map((one) => `${one} && echo "got it: ${path(one)}"`).join('\n'));
      assert.ok(!text.includes(SENTINEL) && !text.includes('got it'), text);
      const search = `grep -rsl ${SENTINEL.slice(0, 8)}-d41d ${home} ${base} /tmp /var/tmp /run /dev/shm /proc/self/root${home}; true`;
      assert.equal((await run(search)).text, '');
      const found = await run(
        `find / -xdev \\( -name id_rsa -o -name hosts.yml -o -name key4.db \\) -path '*${home}*' 2>/dev/null; true`,
      );
      assert.equal(found.text, '');
    }),
  );

  verifies('core:walls:writes-inside', 'shows what is harmless of the home, and nothing of it can be changed', () =>
    using(async ({ run, home }) => {
      const { text } = await run(
        'cat ~/notes.txt ~/other/readme.md ~/.nvm/versions/node ~/.cargo/bin/cargo-x ~/.gitconfig',
      );
      assert.equal(text.match(/plain/g)?.length, 5, text);
      const tries = [
        'echo x > ~/notes.txt',
        'rm ~/other/readme.md',
        'mv ~/.nvm ~/n',
        'rm -rf ~/.local/bin',
        'echo > ~/.cargo/bin/a',
      ];
      assert.equal((await run(tries.map((one) => `( ${one} ) && echo done`).join('\n'))).text.includes('done'), false);
      assert.equal(readFileSync(join(home, 'notes.txt'), 'utf8'), '# plain notes.txt\n');
      assert.ok(existsSync(join(home, '.local/bin/tool')) && existsSync(join(home, '.nvm/versions/node')));
    }),
  );

  it('does not show a settings file with a token in it', () =>
    using(async ({ run, write }) => {
      write('.gitconfig', `[http]\n\textraheader = AUTHORIZATION: basic ${SENTINEL}\n`);
      assert.notEqual((await run('cat ~/.gitconfig')).exitCode, 0);
    }));

  it('gives the session a home of its own, kept between its commands, shared with nobody, gone with it', () =>
    using(async ({ run, home, walls, base }) => {
      const { met } = await run('mkdir -p ~/.cache/x ~/.config/foo && echo 1 > ~/.cache/x/y && echo 2 > ~/report.txt');
      const ends = "was written into the session's private home and ends with it";
      assert.deepEqual(met.notes, [`~/report.txt ${ends}`, `~/.config/foo ${ends}`]);
      assert.equal((await run('cat ~/.cache/x/y ~/report.txt')).text, '1\n2\n');
      assert.deepEqual((await run('true')).met.notes, []);
      assert.notEqual((await run('cat ~/report.txt', { sessionId: 'other' })).exitCode, 0);
      assert.ok(!existsSync(join(home, '.cache')) && !existsSync(join(home, 'report.txt')));
      await walls.endSession('s1');
      const [root = ''] = readdirSync(join(base, 'private'));
      assert.ok(readdirSync(join(base, 'private', root)).every((name) => !name.startsWith('s1-')));
    }));

  it('says what ends with the private home, but for caches', () =>
    using(async ({ run }) => {
      const made = ['.config/mine/x', '.cargo/registry/x', '.config/go/telemetry', '.cache/x', '.ssh-mine'];
      const { met } = await run(made.map((path) => `mkdir -p ~/$(dirname ${path}); echo > ~/${path}`).join('\n'));
      const said = (path: string) => `~/${path} was written into the session's private home and ends with it`;
      assert.deepEqual(met.notes.toSorted(), ['.config/mine', '.ssh-mine'].map(said));
      assert.deepEqual((await run('echo > ~/.config/mine/y')).met.notes, []);
    }));

  it('says so of a program that was put where programs lie', () =>
    using(async ({ run, home }) => {
      rmSync(join(home, '.local/bin'), { recursive: true });
      const { met } = await run('mkdir -p ~/.local/bin && echo > ~/.local/bin/prog');
      assert.deepEqual(met.notes, ["~/.local/bin/prog was written into the session's private home and ends with it"]);
    }));

  it('has the registries of package managers, without their tokens', () =>
    using(async ({ run, write }) => {
      const [plain, scoped] = ['registry=https://npm.corp.example/', '@corp:registry = "https://r.corp.example/x"'];
      const hidden = [
        'registry=https://me:SENTINEL@x.example/',
        '//npm.corp.example/:_authToken=SENTINEL',
        'registry=https://x.example/?SENTINEL',
        'script-shell=SENTINEL',
      ];
      write('.npmrc', [plain, ...hidden, scoped].join('\n'));
      write('.config/pip/pip.conf', '[global]\nindex-url = https://pip.corp.example/simple\npassword = SENTINEL\n');
      const { text } = await run('grep -h "^[^#]" ~/.npmrc ~/.config/pip/pip.conf; grep -rs SENTINEL ~');
      assert.equal(text, `${plain}\n${scoped}\n[global]\nindex-url = https://pip.corp.example/simple\n`);
      assert.match((await run('npm config get registry')).text, /^https:\/\/npm\.corp\.example\/$/m);
    }));

  it('a link that a command leaves in its home does not lead the next wall outside', () =>
    using(async ({ run, home, write }) => {
      await run('rm -rf ~/.config; mv ~/.local ~/l; ln -s /oldroot/etc ~/.config; ln -sfn /oldroot/tmp ~/late');
      write('late/file', 'plain');
      const before = readdirSync('/etc').length;
      assert.equal((await run('echo on; ls ~/.local/bin')).text, 'on\ntool\n');
      assert.equal(readdirSync('/etc').length, before);
      assert.ok(existsSync(join(home, '.local/bin/tool')));
    }));

  verifies('core:walls:no-capability', 'has its own processes, no capability, no way to gain one', () =>
    using(async ({ run }) => {
      const { text } = await run(
        `grep -E '^(CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs)' /proc/self/status; ls /proc | grep -c '^[0-9]'; kill -0 ${process.pid}; cat /proc/${process.pid}/environ`,
      );
      assert.equal(text.match(/^Cap\w+:\s0+$/gm)?.length, 4, text);
      assert.match(text, /NoNewPrivs:\s1/);
      assert.match(text, /No such process/);
      assert.match(text, /environ: No such file/);
      assert.ok(Number(/^(\d+)$/m.exec(text)?.[1]) < 8, text);
    }),
  );

  it('system files are read-only, keys of the system are hidden, /run and /dev/shm are empty', () =>
    using(async ({ run }) => {
      const outside = [
        '/etc/x',
        '/usr/x',
        '/var/x',
        '/opt/x',
        '/x',
        '/proc/sys/kernel/hostname',
        '/sys/x',
        '/proc/sysrq-trigger',
      ];
      assert.equal((await run('find /proc -writable -type f 2>/dev/null | head -3')).text, '');
      const written = await run(outside.map((path) => `( echo x > ${path} ) && echo written ${path}`).join('\n'));
      assert.ok(!written.text.includes('written'), written.text);
      assert.notEqual((await run('cat /etc/shadow')).exitCode, 0);
      assert.equal((await run('ls -A /run /dev/shm')).text, '/dev/shm:\n\n/run:\n');
      const [temp, kept] = ['/tmp', '/var/tmp'].map((path) => join(path, `walls-${process.pid}`));
      assert.equal((await run(`echo t > ${temp}; echo v > ${kept}; cat ${temp} ${kept}`)).text, 't\nv\n');
      assert.ok(![temp, kept].some((path) => existsSync(String(path))));
    }));

  it('sockets of other programs cannot be spoken to', () =>
    using(async ({ run, home, folder }) => {
      const paths = [join(home, 'other/app.sock'), join(folder, 'own.sock')];
      const servers = await Promise.all(paths.map(listenAt));
      const ask = (path: string) =>
        run(
          `'${process.execPath}' -e "require('net').connect('${path}').on('connect',()=>{console.log('in');process.exit()}).on('error',()=>console.log('out'))"`,
        );
      try {
        assert.equal((await ask(paths[0] ?? '')).text, 'out\n');
        assert.equal((await ask(paths[1] ?? '')).text, 'in\n');
      } finally {
        for (const server of servers) server.close();
      }
    }));
});

describe('walls: the folder', { skip: skip ?? false }, () => {
  const repository = ({ write }: WallsScene, project = 'proj') => {
    write(`${project}/.git/config`, '[core]\n\tbare = false\n');
    write(`${project}/.git/HEAD`, 'ref: refs/heads/main\n');
    write(`${project}/.git/hooks/pre-push.sample`, 'sample');
    write(`${project}/AGENTS.md`, 'rules');
    write(`${project}/.vscode/tasks.json`, '{}');
  };

  verifies(
    'core:walls:steering-fixed',
    'what steers later runs is read-only, also by way of moving what holds it',
    () =>
      using(async (scene) => {
        repository(scene);
        const tries = [
          ...[
            'echo x > .git/hooks/pre-commit',
            'echo x >> .git/config',
            'echo x > AGENTS.md',
            'rm AGENTS.md',
            'mv .git g',
          ],
          ...[
            'mv .git/hooks h',
            'rm -rf .vscode',
            'echo x > .vscode/tasks.json',
            'ln -sf /tmp/x AGENTS.md',
            'mv .vscode v',
          ],
        ];
        for (const one of tries) assert.notEqual((await scene.run(one)).exitCode, 0, one);
        assert.equal((await scene.run('echo x > src.txt; mkdir .git/refs; echo y > .git/index')).exitCode, 0);
        assert.equal(readFileSync(join(scene.folder, 'AGENTS.md'), 'utf8'), 'rules');
        assert.deepEqual(readdirSync(join(scene.folder, '.git/hooks')), ['pre-push.sample']);
      }),
  );

  it('tells what steers and was not there before, once, and nothing of what the owner made', () =>
    using(async (scene) => {
      scene.write('proj/a.txt', '');
      assert.deepEqual((await scene.run('git init -q . ; rm -r .git/hooks; echo x > b.txt')).met.planted, []);
      const made = await scene.run(
        'mkdir .cursor; ln -s a.txt CLAUDE.md; echo x > .envrc; mkdir .git/hooks; echo y > .git/hooks/post-merge',
      );
      const names = [...made.met.planted].map((path) => path.slice(scene.folder.length + 1)).sort();
      assert.deepEqual(names, ['.cursor', '.envrc', '.git/hooks/post-merge', 'CLAUDE.md']);
      assert.deepEqual((await scene.run('true')).met.planted, []);
      scene.write('proj/AGENTS.md', 'by the owner');
      assert.deepEqual((await scene.run('true')).met.planted, []);
      const bad = makeWallsScene();
      try {
        const { met } = await bad.run("git init -q . && git config core.fsmonitor 'sh x.sh'");
        assert.deepEqual(met.planted, [join(bad.folder, '.git/config')]);
      } finally {
        await bad.close();
      }
    }));

  it('leaves nothing in the folder that was not there', () =>
    using(async (scene) => {
      repository(scene);
      const before = readdirSync(scene.folder, { recursive: true }).sort();
      await scene.run('true', { openings: [{ kind: 'read', path: join(scene.home, '.ssh') }] });
      await Promise.all([scene.run('ls -la'), scene.run('cat AGENTS.md')]);
      assert.deepEqual(readdirSync(scene.folder, { recursive: true }).sort(), before);
      assert.ok(!existsSync(join(scene.home, '.git')));
    }));

  for (const project of ['work/deep/proj', '.config/tool/proj', 'go/src/x'])
    it(`may lie at ~/${project}`, () =>
      using(
        async (scene) => {
          repository(scene, project);
          assert.equal((await scene.run('echo in > x && cat x && ls ..')).text.split('\n')[0], 'in');
          assert.ok(existsSync(join(scene.folder, 'x')));
          assert.notEqual(
            (await scene.run('echo out > ../y')).exitCode === 0 && existsSync(join(scene.folder, '../y')),
            true,
          );
          assert.equal((await scene.run('cat ~/.gitconfig; cat ~/.ssh/id_rsa')).text.includes(SENTINEL), false);
        },
        { project },
      ));

  it('may be a link, which is resolved once; a folder outside of it is refused', () =>
    using(async ({ run, base, folder, enclose, home }) => {
      symlinkSync(folder, join(base, 'link'));
      assert.equal((await run('pwd; echo x > here', { folder: join(base, 'link') })).text, `${folder}\n`);
      assert.ok(existsSync(join(folder, 'here')));
      mkdirSync(join(folder, 'sub'));
      symlinkSync('/', join(folder, 'root'));
      assert.equal((await run('pwd', { cwd: join(folder, 'sub') })).text, `${folder}/sub\n`);
      for (const cwd of ['/', home, join(folder, 'root'), join(folder, '..'), '/nowhere'])
        await assert.rejects(enclose('true', { cwd }), { code: 'outside-folder' }, cwd);
    }));

  it('may be the home itself, whose secrets stay hidden', () =>
    using(async ({ run, home }) => {
      for (const path of SECRETS.filter((one) => !/unknown-tool|other\/|secrets.yaml|login.keyring/.test(one))) {
        const { text } = await run(`cat ~/'${path}'`, { folder: home, cwd: home });
        assert.ok(!text.includes(SENTINEL), path);
      }
      assert.equal((await run('echo x > ~/new; ls -A ~/.talaria', { folder: home, cwd: home })).text, '');
      assert.ok(existsSync(join(home, 'new')));
    }));

  it('may be a worktree: git works in it, the main repository keeps its hooks and settings', () =>
    using(async ({ run, home, folder }) => {
      const git = (...args: string[]) =>
        spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder });
      git('init', '-q', '.');
      git('commit', '-q', '--allow-empty', '-m', 'one');
      const tree = join(home, 'tree');
      assert.equal(git('worktree', 'add', '-q', tree).status, 0);
      const change = { folder: tree, cwd: tree };
      const commit =
        'echo x > f && git add f && git -c user.name=a -c user.email=a@b commit -q -m two && git log --oneline | wc -l';
      assert.equal((await run(commit, change)).text.trim(), '2');
      assert.notEqual((await run(`echo x > ${folder}/.git/hooks/pre-commit`, change)).exitCode, 0);
      assert.notEqual((await run(`echo x >> ${folder}/.git/config`, change)).exitCode, 0);
      assert.notEqual((await run(`echo x > ${folder}/out`, change)).exitCode, 0);
      writeFileSync(join(folder, 'forged'), '');
      const forged = join(home, 'forged');
      mkdirSync(forged);
      writeFileSync(join(forged, '.git'), `gitdir: ${folder}/.git/worktrees/tree\n`);
      assert.notEqual((await run(`echo x > ${folder}/.git/x`, { folder: forged, cwd: forged })).exitCode, 0);
    }));
});

describe('walls: what is opened', { skip: skip ?? false }, () => {
  it('a hidden place is read, another folder written, each for that command alone', () =>
    using(async ({ run, home }) => {
      const ssh = join(home, '.ssh');
      const shown = await run('cat ~/.ssh/id_rsa; echo x > ~/.ssh/y', { openings: [{ kind: 'read', path: ssh }] });
      assert.ok(shown.text.startsWith(SENTINEL) && shown.exitCode !== 0);
      assert.notEqual((await run('cat ~/.ssh/id_rsa')).exitCode, 0);
      const other = join(home, 'other');
      assert.equal((await run('echo x > ~/other/new', { openings: [{ kind: 'write', path: other }] })).exitCode, 0);
      assert.ok(existsSync(join(other, 'new')));
      assert.notEqual((await run('echo x > ~/other/new')).exitCode, 0);
    }));

  it("the agent's own home stays closed, whatever is opened or configured", () =>
    using(
      async ({ run, home }) => {
        for (const path of [join(home, '.talaria'), join(home, '.talaria/.env'), home]) {
          for (const kind of ['read', 'write'] as const) {
            const { text } = await run('cat ~/.talaria/.env ~/.talaria/state.db; echo x > ~/.talaria/planted', {
              openings: [{ kind, path }],
            });
            assert.ok(!text.includes(SENTINEL), `${kind} ${path}`);
          }
        }
        assert.deepEqual(readdirSync(join(home, '.talaria')).sort(), ['.env', 'state.db']);
      },
      { paths: ['~', '~/.talaria', '~/.talaria:ro'] },
    ));

  it('the configuration names folders to write and places to read', () =>
    using(
      async ({ run, home }) => {
        assert.equal(
          (await run('cat ~/.aws/credentials; echo x > ~/other/conf && echo done')).text,
          `${SENTINEL}done\n`,
        );
        assert.ok(existsSync(join(home, 'other/conf')));
        assert.notEqual((await run('echo x > ~/.aws/credentials')).exitCode, 0);
        assert.equal((await run('pwd', { cwd: join(home, 'other') })).text, `${home}/other\n`);
      },
      { paths: ['~/other', '~/.aws:ro', '/not/there'] },
    ));

  it('of other folders in the home keys are hidden, and settings that carry a token; not those of its own repository', () =>
    using(
      async ({ run, write }) => {
        const url = (name: string) => `url = https://me:${name}@example.org/x.git\n`;
        write('code/a/.git/config', url(SENTINEL));
        write('code/a/.npmrc', `//registry.npmjs.org/:_authToken=${SENTINEL}\n`);
        write('code/b/.aws/credentials', `aws_secret_access_key = ${SENTINEL}\n`);
        write('code/b/id_rsa.bak', SENTINEL);
        write('code/b/.git/config', 'url = https://plain.example/x.git\n');
        write('code/b/.npmrc', 'registry=http://plain.example\n');
        write('code/own/.git/config', url('OWN'));
        const { text } = await run('cat ~/code/*/.git/config ~/code/*/.npmrc ~/code/b/.aws/* ~/code/b/id_rsa.bak');
        assert.ok(!text.includes(SENTINEL), text);
        assert.ok(text.includes('OWN') && text.match(/plain\.example/g)?.length === 2, text);
      },
      { project: 'code/own/part' },
    ));

  it('a folder of the settings shows no keys in it but those that are named, and neither the home nor the machine is one', () =>
    using(
      async ({ run, home, write }) => {
        write('other/own.pem', 'NAMED');
        const { text } = await run(
          'cat ~/other/.env ~/other/deep/id_ed25519 ~/other/own.pem; mv ~/other/deep ~/other/d; cat ~/other/d/*',
        );
        assert.ok(!text.includes(SENTINEL) && text.includes('NAMED'), text);
        for (const path of [join(home, 'new'), '/srv/new']) {
          await run(`echo x > ${path}`);
          assert.ok(!existsSync(path), path);
        }
      },
      { paths: ['~/other', '~/other/own.pem', '~', '/', '/:ro'] },
    ));

  it('a failed command says which wall it met', () =>
    using(async (scene) => {
      scene.write('proj/.git/config', '[core]\n');
      scene.write('proj/.git/HEAD', 'ref: refs/heads/main\n');
      scene.write('proj/.git/objects/x', '');
      scene.write('proj/.git/refs/x', '');
      const config = join(scene.folder, '.git/config');
      const remote = 'git remote add origin https://example.com/x';
      const { met } = await scene.run(remote);
      assert.deepEqual(met.openings[0], { kind: 'write', path: config });
      const opened = await scene.run(remote, { openings: [{ kind: 'write', path: config }] });
      assert.deepEqual([opened.exitCode, opened.met.planted], [0, []], opened.text);
      const other = join(scene.home, 'other/x');
      assert.deepEqual((await scene.run(`echo x > ${other}`)).met.openings[0], { kind: 'write', path: other });
      const key = join(scene.home, '.ssh/id_rsa');
      assert.deepEqual((await scene.run(`cat ${key}`)).met.openings, [{ kind: 'read', path: key }]);
      assert.deepEqual((await scene.run('cat ~/.talaria/.env; cat /nowhere; cat nothing')).met.openings, []);
      assert.deepEqual(
        (await scene.run('getent hosts example.com || { echo Could not resolve host: x; exit 1; }')).met.openings,
        [{ kind: 'network' }],
      );
    }));
});

describe('walls: commands', { skip: skip ?? false }, () => {
  verifies(
    'core:walls:bounded',
    'one that forks without end gets no more processes than it may have, and ends with its wall',
    () =>
      using(
        async ({ run, walls }) => {
          // A process counts until the system has taken it away, a moment after its end.
          const isFine = () => until(async () => (await run('echo fine')).text === 'fine\n');
          await isFine();
          const bomb = await run("sh -c 'for i in $(seq 1 200); do sleep 600 & done'");
          if (walls.state().detail.includes('processes are not counted')) return;
          assert.match(bomb.text, /Cannot fork|Resource temporarily unavailable/);
          await isFine();
        },
        { processes: 60 },
      ),
  );

  it('a folder that is closed to its user hides its sockets by itself, also from root', () =>
    using(async ({ run, base }) => {
      const door = join(base, 'closed/in/door.sock');
      mkdirSync(dirname(door), { recursive: true });
      const server = await listenAt(door);
      try {
        if (isRoot) chownSync(join(base, 'closed'), OTHER_USER, OTHER_USER);
        chmodSync(join(base, 'closed'), isRoot ? 0o700 : 0);
        assert.deepEqual([(await run('echo fine')).text, (await run(`ls ${door}`)).exitCode], ['fine\n', 2]);
      } finally {
        chmodSync(join(base, 'closed'), 0o700);
        server.close();
      }
    }));

  it("says what keeps root's commands from somebody else's folder", async () => {
    if (!isRoot) return; // for another user it is no session's folder
    await using(async ({ run, folder }) => {
      chownSync(folder, OTHER_USER, OTHER_USER);
      const { met } = await run('echo x > new');
      assert.match(met.notes.join(), /no rights of root: they cannot write \S+, which is another user's/);
      assert.deepEqual((await run('echo x > new')).met.notes, []);
    });
    await using(async ({ run, folder }) => {
      chownSync(folder, OTHER_USER, OTHER_USER);
      chmodSync(folder, 0o700);
      await assert.rejects(run('true'), { code: 'folder-of-another' });
    });
  });

  it('a hundred at once', () =>
    using(async ({ run }) => {
      const all = await Promise.all(
        Array.from({ length: 100 }, (_, index) => run(`echo ${index} > f${index}; cat f${index}`)),
      );
      assert.deepEqual(
        all.map(({ text }) => text),
        all.map((_, index) => `${index}\n`),
      );
    }));

  it('hears a time-out before its wall falls', () =>
    using(async ({ run }) => {
      const { text, ended } = await run("trap 'echo bye; exit 0' TERM; echo up; sleep 600 & wait", {
        timeoutMs: 3_000,
      });
      assert.deepEqual([text.replace(/.*Terminated.*\n/, ''), ended], ['up\nbye\n', 'timeout']);
    }));

  it('leaves no process behind: not a daemon, and not when who started it is killed', () =>
    using(async ({ run, folder }) => {
      await run('setsid sleep 12345 > /dev/null 2>&1 & disown; exit 0');
      const scene = new URL('../../core/tools/walls-scene.ts', import.meta.url).href;
      const program = `const { makeWallsScene } = await import('${scene}'); const s = makeWallsScene(); await s.serve('echo up; sleep 54321', 'up'); console.log('up');`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: process.cwd() });
      await new Promise((resolve) => child.stdout.once('data', resolve));
      child.kill('SIGKILL');
      const left = () => spawnSync('pgrep', ['-f', '^sleep (12345|54321)$']).stdout.toString();
      await until(() => left() === '');
      assert.ok(existsSync(folder));
    }));
});

function path(command: string): string {
  return command.replace(/[^\w/.~ -]/g, '');
}

function listenAt(path: string): Promise<Server> {
  const server = createServer((socket) => socket.end());
  return new Promise((resolve) => server.listen(path, () => resolve(server)));
}
