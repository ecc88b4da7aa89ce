import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, it } from 'node:test';
import { callFilter, guardDisk } from '#core/tools/walls/limits.ts';
import { guessOpenings } from '#core/tools/walls/met.rules.ts';
import { HARMLESS_GIT_SETTING, STEERING_NAMES } from '#core/tools/walls/places.rules.ts';
import { probeWalls, seatbeltProfile } from '#core/tools/walls/probe.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { until } from '../../ends.ts';
import { verifies } from '../../verifies.ts';

describe('walls: the guess from what was printed', () => {
  const place = { cwd: '/w/proj', userHome: '/home/u' };
  const guess = (output: string) => guessOpenings({ output, failed: true, ...place });
  const cases: readonly (readonly [output: string, kind: string, path?: string])[] = [
    ["touch: cannot touch '/etc/x': Read-only file system", 'write', '/etc/x'],
    ['bash: line 1: .git/hooks/pre-commit: Read-only file system', 'write', '/w/proj/.git/hooks/pre-commit'],
    ["mkdir: cannot create directory '/srv/a': Read-only file system", 'write', '/srv'],
    ["Error: EROFS: read-only file system, mkdir '/srv/a'", 'write', '/srv'],
    ["fatal: could not create work tree dir '../a b': Read-only file system", 'write', '/w'],
    ["fatal: could not create leading directories of '../x/.git': Read-only file system", 'write', '/w'],
    ['fatal: cannot mkdir ../x: Read-only file system', 'write', '/w'],
    ["Error: EROFS: read-only file system, open '/w/other/a.js'", 'write', '/w/other/a.js'],
    ["OSError: [Errno 30] Read-only file system: '/srv/x'", 'write', '/srv/x'],
    ['error: could not write config file .git/config: Device or resource busy', 'write', '/w/proj/.git/config'],
    ['error: could not write config file /w/a b/.git/config: Device or resource busy', 'write', '/w/a b/.git/config'],
    ['error: could not lock config file /home/u/.gitconfig: Read-only file system', 'write', '/home/u/.gitconfig'],
    [
      'error: remote unpack failed: unable to create temporary object directory\nTo /srv/remote.git\n ! [remote rejected]',
      'write',
      '/srv/remote.git',
    ],
    ['remote: unable to create temporary object directory\nremote: x\nTo ../a b.git\n', 'write', '/w/a b.git'],
    ['error: unable to create temporary object directory\nTo file:///srv/r.git\n', 'write', '/srv/r.git'],
    ["mv: cannot move 'a' to '.vscode': Device or resource busy", 'write', '/w/proj/.vscode'],
    ['cat: /home/u/.ssh/id_rsa: No such file or directory', 'read', '/home/u/.ssh/id_rsa'],
    ["ls: cannot open directory '~/.aws': Permission denied", 'read', '/home/u/.aws'],
    ["PermissionError: [Errno 13] Permission denied: '/etc/shadow'", 'read', '/etc/shadow'],
    ['ssh: Could not resolve hostname github.com: Temporary failure in name resolution', 'network'],
    ['curl: (6) Could not resolve host: example.com', 'network'],
    ['npm error code EAI_AGAIN\nnpm error getaddrinfo EAI_AGAIN registry.npmjs.org', 'network'],
    ['connect: Network is unreachable', 'network'],
    ['dial tcp: lookup proxy.golang.org: no such host', 'network'],
    ['Error: connect ECONNREFUSED 127.0.0.1:5432', 'host', 'localhost:5432'],
    ['    at connect ECONNREFUSED ::1:5432', 'host', 'localhost:5432'],
    ['curl: (7) Failed to connect to localhost port 80 after 0 ms: x', 'host', 'localhost:80'],
    ['psql: connection to server at "localhost" (127.0.0.1), port 5432 failed: refused', 'host', 'localhost:5432'],
    ['dial tcp [::1]:6379: connect: connection refused', 'host', 'localhost:6379'],
    ["HTTPConnectionPool(host='localhost', port=8080): Connection refused", 'host', 'localhost:8080'],
  ];
  for (const [output, kind, path] of cases)
    it(output.slice(0, 60), () => {
      const found = guess(output).map((one) => [
        one.kind,
        'path' in one ? one.path : 'host' in one ? one.host : undefined,
      ]);
      assert.ok(
        found.some(([first, second]) => first === kind && second === path),
        JSON.stringify(found),
      );
    });

  it('where the command went on and ended well only what nothing else says counts', () => {
    const [sure] = guessOpenings({
      ...{ ...place, failed: false },
      output: 'error: could not write config file .git/config: Device or resource busy\ncat: /x: Permission denied\n',
    });
    assert.deepEqual(sure, { kind: 'write', path: '/w/proj/.git/config' });
    const left =
      'could not write config file .git/config: Device or resource busy\nwarning: Update of config-file failed\n';
    assert.deepEqual(guessOpenings({ ...place, failed: false, output: left }), [], 'of a branch that was deleted');
    for (const [output] of cases.filter(([text]) => !text.includes('could not write config file')))
      assert.deepEqual(guessOpenings({ ...place, output, failed: false }), [], output);
  });

  it('a push to another machine names no folder of this one', () => {
    const output = 'unable to create temporary object directory\nTo github.com:me/x.git\n';
    assert.deepEqual(guess(output), []);
  });

  it('finds nothing where nothing is, and never more than a few', () => {
    assert.deepEqual(guess('ok\n1 test failed: expected 3\n'), []);
    assert.ok(guess(Array.from({ length: 500 }, (_, n) => `/p${n}: Read-only file system`).join('\n')).length <= 20);
  });
});

describe('walls: what steers', () => {
  it('names that decide what runs later, whatever their case where that counts', () => {
    const steers = (name: string) => STEERING_NAMES.some((pattern) => pattern.test(name));
    for (const name of [
      'AGENTS.md',
      'agents.MD',
      'CLAUDE.md',
      '.talaria.md',
      '.envrc',
      '.mcp.json',
      '.husky',
      '.bashrc',
      '.vscode',
      ...'.pdbrc .Rprofile .nvim.lua .irbrc .pryrc .ghci .iex.exs .ocamlinit .octaverc .dir-locals-2.el .mise.toml'.split(
        ' ',
      ),
      ...'mise.toml .pnpmfile.cjs .bazelrc .mvn .devcontainer.json .devcontainer app.code-workspace .roo .kiro'.split(
        ' ',
      ),
      ...'.junie .goosehints .rules .amazonq QWEN.md CRUSH.md warp.md opencode.json'.split(' '),
    ])
      assert.ok(steers(name), name);
    for (const name of [
      'README.md',
      'agents.py',
      'package.json',
      '.gitignore',
      '.env',
      'xCLAUDE.md',
      '.github',
      '.cargo',
      'rules',
    ])
      assert.ok(!steers(name), name);
  });

  it('settings of a repository that run nothing', () => {
    const yes = [
      '[core]',
      '\tbare = false',
      '[remote "origin"]',
      '\turl = https://example.com/x.git',
      '\turl = git@example.com:x',
      '',
      '# c',
    ];
    const no = [
      '\tfsmonitor = x',
      '\thooksPath = h',
      '[alias]',
      '\tpager = sh',
      '\turl = ext::sh -c x',
      '\tsshCommand = x',
      '\tworktree = ../../x',
      '[include]',
    ];
    const hidden = ['\turl = -oProxyCommand=x', '[core] fsmonitor = x', '\tbare = false \\'];
    for (const line of yes) assert.ok(HARMLESS_GIT_SETTING.test(line), line);
    for (const line of [...no, ...hidden.slice(0, 2)]) assert.ok(!HARMLESS_GIT_SETTING.test(line), line);
  });
});

describe('walls: what the machine can build', () => {
  const withProgram = (context: { after(run: () => void): void }, text: string) => {
    const home = createTempHome(context);
    const folder = join(home.path, 'bin');
    mkdirSync(folder);
    writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, 'bwrap'), 0o755);
    return probeWalls({ path: folder, system: '' }).state;
  };

  verifies('core:walls:says-why-not', 'says what is missing, with the line that brings it', () => {
    const { kind, detail, fix } = probeWalls({ path: '/nowhere', system: '' }).state;
    assert.deepEqual([kind, detail], ['none', 'bubblewrap is missing']);
    assert.match(fix ?? '', /^(?:apt install|dnf install|pacman -S|apk add|zypper install) bubblewrap$/);
  });

  it('says when it is too old, silent, or refused, and by whom', (context) => {
    const old = withProgram(context, 'echo bubblewrap 0.3.3');
    assert.match(old.detail, /bubblewrap 0\.3\.3 is too old \(0\.4 is needed\)/);
    assert.match(withProgram(context, 'exit 0').detail, /does not say its version/);
    const refused = withProgram(
      context,
      'case $1 in --version) echo bubblewrap 0.9.0;; *) echo "bwrap: setting up uid map: Permission denied" >&2; exit 1;; esac',
    );
    assert.equal(refused.kind, 'none');
    assert.match(refused.detail, /setting up uid map: Permission denied/);
    assert.match(refused.fix ?? '', /sandbox\.mode machine|sysctl/);
  });

  it('says so when only the filter of calls is refused', (context) => {
    const { kind, detail } = withProgram(
      context,
      'case $1 in --version) echo bubblewrap 0.9.0;; --seccomp) echo "bwrap: prctl(PR_SET_SECCOMP): Invalid argument" >&2; exit 1;; esac',
    );
    assert.equal(kind, 'walls');
    assert.match(detail, /^bubblewrap 0\.9\.0; the kernel's keys of your login are not hidden \(.*Invalid argument\)$/);
  });

  it('never runs a bubblewrap that a command could have left, and the one of the system before all others', (context) => {
    const home = createTempHome(context).path;
    const put = (name: string) => {
      const folder = join(home, name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\ntouch '${home}/ran'\necho bubblewrap 9.9\n`, { mode: 0o755 });
      return folder;
    };
    const path = [put('project/bin'), put('x/node_modules/.bin'), put('shared')].join(delimiter);
    const written = [join(home, 'project'), join(home, 'shared')];
    assert.equal(probeWalls({ path, written, system: '' }).state.detail, 'bubblewrap is missing');
    const system = join(home, 'system');
    mkdirSync(system);
    writeFileSync(join(system, 'bwrap'), '#!/bin/sh\necho bubblewrap 0.3\n', { mode: 0o755 });
    assert.match(probeWalls({ path: put('own'), system }).state.detail, /0\.3 is too old/);
    assert.ok(!existsSync(join(home, 'ran')));
  });
});

interface Call {
  readonly nr: number;
  readonly arch: number;
  readonly first?: number;
  readonly second?: number;
  readonly third?: number;
  readonly fourth?: number;
}

/** What the kernel would do: the program run over one call. */
const verdict = (filter: Buffer, { nr, arch, first = 0, second = 0, third = 0, fourth = 0 }: Call) => {
  const seen: Readonly<Record<number, number>> = { 0: nr, 4: arch, 16: first, 24: second, 32: third, 40: fourth };
  let [value, answer] = [0, 0];
  for (let at = 0; filter.readUInt16LE(at) !== 0x06; at += 8) {
    const [code, number] = [filter.readUInt16LE(at), filter.readUInt32LE(at + 4)];
    if (code === 0x20) value = seen[number] ?? assert.fail(`offset ${number}`);
    else at += 8 * filter.readUInt8(at + (holds(code, value, number) ? 2 : 3));
    answer = filter.readUInt32LE(at + 12);
  }
  return answer === 0x7fff0000 ? 'allowed' : answer - 0x50000;
};
const holds = (code: number, value: number, number: number) => {
  if (code === 0x45) return (value & number) !== 0;
  return code === 0x15 ? value === number : value >= number;
};

describe('walls: the filter of calls', () => {
  it('refuses keys, rings and sockets to the host on every way to call, and nothing else', () => {
    const ways = [
      {
        processor: 'x64',
        arch: 0xc000003e,
        no: [248, 249, 250, 425, 0x40000000, 0x400000fa],
        yes: [0, 1, 59, 231, 451],
        socket: 41,
      },
      { processor: 'x64', arch: 0x40000003, no: [286, 287, 288, 102, 425], yes: [1, 11, 248, 250], socket: 359 },
      { processor: 'arm64', arch: 0xc00000b7, no: [217, 218, 219, 425], yes: [63, 64, 221, 248], socket: 198 },
      { processor: 'arm64', arch: 0x40000028, no: [309, 310, 311, 425], yes: [3, 4, 11, 217], socket: 281 },
    ];
    for (const { processor, arch, no, yes, socket } of ways) {
      const filter = callFilter(processor) ?? assert.fail(processor);
      for (const nr of no) assert.equal(verdict(filter, { nr, arch }), 38, `${nr}`);
      for (const nr of yes) assert.equal(verdict(filter, { nr, arch, first: 40 }), 'allowed', `${nr}`);
      assert.equal(verdict(filter, { nr: socket, arch, first: 40 }), 97);
      for (const first of [1, 2, 10, 16, 41]) assert.equal(verdict(filter, { nr: socket, arch, first }), 'allowed');
      assert.equal(verdict(filter, { nr: 1, arch: 0x1234 }), 38);
    }
    assert.equal(callFilter('mips'), undefined);
  });

  it('refuses to make a program that runs as its owner', () => {
    const ways = [
      { processor: 'x64', arch: 0xc000003e, second: [90, 91, 85, 133], third: [268, 452, 259] },
      { processor: 'x64', arch: 0x40000003, second: [15, 94, 8, 14], third: [306, 452, 297] },
      { processor: 'arm64', arch: 0xc00000b7, second: [52], third: [53, 452, 33] },
      { processor: 'arm64', arch: 0x40000028, second: [15, 94, 8, 14], third: [333, 452, 324] },
    ];
    for (const { processor, arch, ...calls } of ways) {
      const filter = callFilter(processor) ?? assert.fail(processor);
      for (const [place, other] of [
        ['second', 'third'],
        ['third', 'second'],
      ] as const)
        for (const nr of calls[place]) {
          assert.equal(verdict(filter, { nr, arch, [place]: 0o4755 }), 1, `${nr}`);
          assert.equal(verdict(filter, { nr, arch, [place]: 0o2775, [other]: 0o4755 }), 'allowed', `${nr}`);
        }
    }
  });
});

describe('walls: the filter of what open makes', () => {
  for (const [processor, arch, open, openat] of [
    ['x64', 0xc000003e, 2, 257],
    ['x64', 0x40000003, 5, 295],
    ['arm64', 0xc00000b7, undefined, 56],
    ['arm64', 0x40000028, 5, 322],
  ] as const)
    it(`refuses a new file that runs as its owner, and looks at no mode where none is made: ${processor} ${arch}`, () => {
      const filter = callFilter(processor) ?? assert.fail(processor);
      const [made, temporary, plain] = [0o101, 0o20000000, 0o2];
      for (const flags of [made, temporary]) {
        if (open) assert.equal(verdict(filter, { nr: open, arch, second: flags, third: 0o4755 }), 1);
        assert.equal(verdict(filter, { nr: openat, arch, third: flags, fourth: 0o4755 }), 1);
        assert.equal(verdict(filter, { nr: openat, arch, second: 0o4000, third: flags, fourth: 0o755 }), 'allowed');
      }
      if (open) assert.equal(verdict(filter, { nr: open, arch, second: plain, third: 0o4755 }), 'allowed');
      assert.equal(verdict(filter, { nr: openat, arch, third: plain, fourth: 0o4755 }), 'allowed');
    });
});

describe('walls: the disk', () => {
  it('that gets full ends the command and says so; one that is full and stays so does not', async (context) => {
    const token = `guard-${process.pid}`;
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600_000)', token], { stdio: 'ignore' });
    context.after(() => child.kill('SIGKILL'));
    const ended = new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)));
    const clock = createManualClock();
    let free = 400 * 1_048_576;
    let looked = 0;
    const freeBytes = async () => {
      looked += 1;
      return { free, all: 10_000 * 1_048_576 };
    };
    const guard = guardDisk(['/work'], token, clock, freeBytes);
    const pass = async () => {
      const before = looked;
      await clock.advance(1_000);
      await until(() => looked > before);
      await new Promise((resolve) => setImmediate(resolve));
    };
    await pass();
    await pass();
    assert.equal(child.exitCode ?? child.signalCode, null);
    free -= 1_048_576;
    await pass();
    assert.equal(await ended, 'SIGKILL');
    assert.match(guard() ?? '', /filled the disk of \/work \(399 MB are left\)/);
  });

  it('with room is left alone, and a guard that was stopped looks no more', async () => {
    const clock = createManualClock();
    let looked = 0;
    const freeBytes = async () => {
      looked += 1;
      return { free: 9e12 - looked, all: 1e13 };
    };
    const guard = guardDisk(['/work'], 'nobody has this', clock, freeBytes);
    await clock.advance(1_000);
    assert.equal(guard(), undefined);
    const before = looked;
    await clock.advance(10_000);
    assert.equal(looked, before);
  });
});

describe('walls: the profile for macOS', () => {
  const places = {
    ...{
      userHome: '/Users/a.b',
      dataHome: '/Users/a.b/.talaria',
      root: '/r',
      own: '/r/s1',
      writable: ['/Users/a.b/pr"oj'],
    },
    ...{ readable: [], fixed: ['/Users/a.b/proj/.git/hooks'], secrets: ['/Users/a.b/other/.env'] },
  };
  const lines = (network: number | 'open') => seatbeltProfile({ ...places, network }).split('\n');

  it('closes writing, dot entries and the network, opens the folder, and ends with its own home', () => {
    const profile = lines(4_000);
    assert.deepEqual(profile.slice(0, 3), ['(version 1)', '(allow default)', '(deny file-write*)']);
    assert.ok(profile[3]?.includes('(subpath "/Users/a.b/pr\\"oj")'), profile[3]);
    assert.ok(profile.includes('(deny file-write* (subpath "/Users/a.b/proj/.git/hooks"))'));
    assert.ok(profile.some((line) => line.startsWith('(deny file-read* (regex #"^/Users/a\\.b/\\.")')));
    assert.ok(profile.includes('(deny network*)'));
    assert.equal(profile.at(-1), '(deny file-read* file-write* (subpath "/Users/a.b/.talaria"))');
    assert.equal(profile.join('').split('(').length, profile.join('').split(')').length);
  });

  it('an open network is not closed', () => assert.ok(!lines('open').includes('(deny network*)')));
});
