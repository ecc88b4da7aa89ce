import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseJson } from '#base/json.ts';
import { realPath } from '#core/tools/files/file-access.ts';
import { commandRisk } from '#core/tools/risk/command-risk.ts';
import { pathsWritten } from '#core/tools/terminal/bound-command.ts';
import { readState } from '#mind/sessions/files/file-state.ts';
import { ends } from '../../ends.ts';
import { runs } from '../../property-runs.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';

const place = {
  cwd: '/home/u/project',
  home: '/home/u',
  dataHome: '/home/u/.talaria',
  exists: (path: string) => path === '/home/u/project/old.txt',
  isFilled: (path: string) => path === '/home/u/project/old.txt',
};
/** Each command with what it is in the place above; `old.txt` is there. */
const labelled = parseJson(readFileSync(new URL('../../fixtures/commands/labelled.json', import.meta.url), 'utf8'));
assert.ok(labelled.ok);
const {
  never: NEVER,
  ask: ASK,
  none: NONE,
} = labelled.value as unknown as Readonly<Record<'never' | 'ask' | 'none', readonly string[]>>;

const level = (command: string) => commandRisk(command, place).level;
const wrong = (commands: readonly string[], expected: string) =>
  commands.filter((command) => level(command) !== expected).map((command) => `${command} → ${level(command)}`);

describe('core/tools/risk/command-risk', () => {
  verifies('core:approval:hard-list-never', 'commands of the hard list are never run', () => {
    assert.deepEqual(wrong(NEVER, 'never'), []);
  });

  verifies('core:approval:risky-asks', 'risky commands ask, and the preview is the whole command', () => {
    assert.deepEqual(wrong(ASK, 'ask'), []);
    const risk = commandRisk('ls; git push --force', place);
    assert.ok(risk.level === 'ask' && risk.preview === 'ls; git push --force');
  });

  it('asks for what changes git for all of the account or the machine, not for what reads that', () => {
    const asked = [
      'git config --global core.pager evil',
      'git config --system a.b c',
      'git -C x config a.b c --global',
      'git config --global --unset a.b',
      'git config --global --unset-all a.b',
      'git config set --global a.b c',
      'git config --global -e',
      'git config --global -- a.b --get',
    ];
    assert.deepEqual(wrong(asked, 'ask'), []);
    for (const command of asked) {
      const risk = commandRisk(command, place);
      assert.ok(risk.level === 'ask' && risk.reach === 'beyond', command);
    }
    const read = ['--global user.name', '--global --get a.b', '--global --list', 'get --global a.b', 'user.name me'];
    assert.deepEqual(
      wrong(
        read.map((rest) => `git config ${rest}`),
        'none',
      ),
      [],
    );
  });

  verifies(
    'core:approval:never-under-yes',
    'none of the never list runs where all of folder and network is approved',
    () => {
      const list = parseJson(readFileSync(new URL('../../fixtures/commands/never-run.json', import.meta.url), 'utf8'));
      assert.ok(list.ok);
      const commands = Object.values(list.value as unknown as Readonly<Record<string, readonly string[]>>).flat();
      assert.ok(new Set(commands).size >= 200);
      for (const kind of ['machine', 'none'] as const) {
        const walls = { kind, detail: 'a test' };
        const runs = commands.filter((command) => {
          const risk = commandRisk(command, { ...place, walls });
          return risk.level === 'none' || (risk.level === 'ask' && risk.reach !== 'beyond');
        });
        assert.deepEqual(runs, [], kind);
      }
    },
  );

  verifies(
    'core:terminal:no-walls',
    'without walls: runs only what plainly reads, and says what would keep the rest in',
    () => {
      const walls = { kind: 'none', detail: 'bubblewrap is missing', fix: 'apt install bubblewrap' } as const;
      const at = {
        ...place,
        walls,
        path: '/usr/local/bin:/usr/bin',
        real: (path: string) => path.replace(/link$/, '.env'),
        exists: (path: string) => path.startsWith('/usr/bin/') || path.endsWith('/project/bin/ls'),
      };
      const reads = [
        'ls -la',
        'cat README.md',
        'head -n 5 a.txt && wc -l a.txt',
        'git status',
        'git log --oneline | head',
        'git diff HEAD~1',
        "grep -n 'a b' x.ts",
        'git branch -a',
        'find . -name "*.ts"',
        'echo done > /dev/null',
        'ls 2>&1 | sort',
        'node --version',
        'pwd; whoami',
        'test -f x || echo no',
      ];
      assert.deepEqual(
        reads.filter((command) => commandRisk(command, at).level !== 'none'),
        [],
      );
      const more = [
        'ls $X',
        'cat *.md',
        'cat ~/x',
        'x=1 ls',
        'ls > a',
        'echo $(date)',
        'cat .env',
        'cat link',
        'cat /proc/1/environ',
        'cat /home/u/.curlrc',
        'cat /home/u/.talaria/config.yaml',
        'sort -o a b',
        'sort -ro a b',
        'uniq a b',
        'git -c core.pager=x log',
        'git -C sub status',
        'git diff --ext-diff',
        'git log --outp=x',
        'git branch new',
        'git show HEAD:.env',
        'find . -delete',
        'find . -exec ls +',
        'find . -fprint a',
        'find -- . -delete',
        "find -- README.md -exec python3 evil.py ';'",
        "find -- README.md -fprintf /home/u/.bashrc 'curl evil'",
        'sort -- a -o b',
        'npm test',
        'make',
        'node x.js',
        './ls',
        '/tmp/ls',
        'ls & rm x',
        'sudo ls',
        'env ls',
        'bash -c ls',
        'cat <(ls)',
        'ls {a,b}',
        'cat .e{m..o}v',
        'cat x | sh',
        'awk 1 a',
        'tee a',
        'touch a',
        'cd sub && ls',
        'ls() { rm x; }; ls',
        'cat <<E\nx\nE',
        'date -s 1',
        'hostname x',
        'tree -o a',
        'diff -l a b',
        'grep -r KEY .',
        'rg x',
        'env',
        'printenv',
        'curl x',
        'git fetch',
        'git stash',
        'talaria config set a b',
      ];
      assert.deepEqual(
        more.filter((command) => commandRisk(command, at).level === 'none'),
        [],
      );
      for (const path of [
        'bin:/usr/bin',
        ':/usr/bin',
        '/home/u/project/bin:/usr/bin',
        '/usr/../home/u/project/bin',
        '',
      ])
        assert.deepEqual(
          [commandRisk('ls', { ...at, path }).level, commandRisk('pwd', { ...at, path }).level],
          ['ask', 'none'],
        );
      const asked = commandRisk('npm test', at);
      assert.ok(asked.level === 'ask' && asked.reach === 'beyond');
      assert.match(asked.reason, /no wall keeps it in: bubblewrap is missing \(apt install bubblewrap\)/);
    },
  );

  it('lets ordinary commands run', () => {
    assert.deepEqual(wrong(NONE, 'none'), []);
  });

  it('has enough labelled commands, each once', () => {
    const all = [...NEVER, ...ASK, ...NONE];
    assert.equal(new Set(all).size, all.length);
    assert.ok(all.length >= 400);
  });

  verifies.slow('core:approval:no-disguise', 'chaining, quoting and wrapping keep the level of what they hide', () => {
    const wraps: readonly ((command: string) => string)[] = [
      (command) => `true && ${command}`,
      (command) => `( ${command}\n)`,
      (command) => `if true; then ${command}\nfi`,
      (command) => `bash -c ${quote(command)}`,
      (command) => `bash -c ${quote(`sh -c ${quote(command)}`)}`,
      (command) => `eval ${quote(command)}`,
      (command) => `bash <<'END_OF_IT'\n${command}\nEND_OF_IT`,
      (command) => `echo "$(${command}\n)"`,
    ];
    for (const wrap of wraps) {
      const softened = NEVER.filter((command) => level(wrap(command)) !== 'never');
      assert.deepEqual(softened.map(wrap), []);
      assert.deepEqual(ASK.filter((command) => level(wrap(command)) === 'none').map(wrap), []);
    }
  });

  it('never throws, whatever the text', () => {
    const pieces = fc.constantFrom(
      'rm',
      ' -rf ',
      '/',
      '"',
      "'",
      '$(',
      ')',
      '`',
      '\\',
      ';',
      '|',
      '&',
      '<<EOF\n',
      'EOF',
      '\n',
      '{',
      ',',
      '}',
      '$',
      '~',
      '>',
      '<',
      '(',
      '*',
      'bash -c ',
      'eval ',
      '#',
      '=',
      '\uE000',
      '\u0000',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string({ maxLength: 5 })), { maxLength: 60 }), (parts) => {
        commandRisk(parts.join(''), place);
        for (const path of pathsWritten(parts.join(''), place)) readState(realPath(path));
      }),
      { numRuns: runs(3_000) },
    );
  });

  slow('takes time in proportion to the length', () => {
    const shapes = [
      '$(',
      '`',
      '${',
      '"$(',
      'a ',
      '{a,',
      '<<a\n',
      'X=a;',
      '((',
      'rm x;',
      'a|',
      'bash -c "',
      "bash -c '",
      'sudo ',
      'cd a;',
      "'",
      '\\',
      '>a ',
      'echo a|',
      'find -exec ',
      'find -exec a ; ',
      'cat|',
      'xargs ',
      '=@:',
      'a=',
      'eval ',
      'delete from ',
      'python -c "os.remove',
      '$X ',
      '~/',
    ];
    for (const shape of shapes) {
      const text = shape.repeat(Math.ceil(30_000 / shape.length));
      ends(shape, () => commandRisk(text, place));
    }
  });

  it('asks for what is too long to be read', () => {
    assert.equal(level(`echo ${'a'.repeat(200_000)}`), 'ask');
    assert.equal(level(`echo ${'$('.repeat(40)}`), 'ask');
  });

  it('private keys are told by their names, certificates and public keys are not', () => {
    const keys = 'deploy.key real.pem key.pem server-key.pem privkey.pem cert-key.pem ca-key.pem rootCA-key.pem'.split(
      ' ',
    );
    const plain =
      'cacert.pem cert.pem mycert2.pem ca-root.pem ca.pem roots.pem fullchain.pem chain1.pem tls-ca-bundle.pem public_key.pem jwt.pub.pem';
    const others = `${plain} deploy.key.pub key.pem.ts a.keys keymap.js`.split(' ');
    for (const [names, expected] of [
      [keys, 'ask'],
      [others, 'none'],
    ] as const)
      assert.deepEqual(
        wrong(
          names.map((name) => `cat ~/lib/${name}`),
          expected,
        ),
        [],
      );
  });

  it('asks before earlier work is lost: git checkout of paths, and what is put onto a file', () => {
    const asked = [
      'git checkout old.txt',
      'git checkout HEAD old.txt',
      'git checkout main b.txt old.txt',
      'git checkout ./sub/../old.txt',
      'cd sub && git checkout ../old.txt',
      'git -C sub checkout ../old.txt',
      'git checkout HEAD *.txt',
      "git checkout ':/' ",
      'git checkout "$F"',
      'git checkout --pathspec-from-file=list',
      'cp a old.txt',
      'cp -r sub/old.txt .',
      'cp -t . sub/old.txt',
      'mv sub/old.txt ./',
      'install -m 755 a old.txt',
      'ln -sf a old.txt',
      'ls | tee b old.txt',
    ];
    assert.deepEqual(wrong(asked, 'ask'), []);
    for (const command of asked) {
      const risk = commandRisk(command, { ...place, walls: { kind: 'walls', detail: 'a test' } });
      assert.ok(risk.level === 'ask' && risk.reach === 'folder', command);
    }
    const free = [
      'git checkout main',
      'git checkout -b "new-$(date +%F)"',
      'git checkout old.txt-branch',
      'git -C sub checkout old.txt',
      'cp -n a old.txt',
      'cp old.txt a',
      'cp -r a sub/',
      'mv old.txt sub/',
      'ln -s a old.txt',
      'install -d sub',
      'ls | tee -a old.txt',
      'ls | tee b',
    ];
    assert.deepEqual(wrong(free, 'none'), []);
    const own = { ...place, walls: { kind: 'walls', detail: 'a test' }, isOld: () => false } as const;
    assert.equal(commandRisk('cp a old.txt; ls > old.txt; mv a old.txt', own).level, 'none');
  });

  it('first hour 5: the folder behind -t is where mv, cp and install write, and every operand is a source', () => {
    const written = (command: string) => pathsWritten(command, { cwd: '/w', home: '/home/u' });
    for (const flag of ['-t d', '-td', '-vt d', '--target-directory d', '--target-directory=d', '--target=d']) {
      assert.deepEqual(written(`mv ${flag} f g`), ['/w/f', '/w/g', '/w/d', '/w/d/f', '/w/d/g'], flag);
      assert.deepEqual(written(`cp ${flag} f`), ['/w/d', '/w/d/f'], flag);
      assert.deepEqual(written(`install -m 644 f ${flag}`).slice(-1), ['/w/d/f'], flag);
      assert.equal(level(`mv ${flag} old.txt`), level('mv old.txt d/'), flag);
    }
    assert.equal(level('mv -t /tmp /etc'), 'never');
    assert.equal(level('cp f -t/opt'), level('cp f /opt/'));
  });

  it('names the files that a command writes, as far as a reader can know them', () => {
    const written = (command: string) => pathsWritten(command, { cwd: '/w', home: '/home/u' });
    const named: readonly (readonly [command: string, paths: readonly string[]])[] = [
      ['echo a > x; cd sub && echo b >> y 2>err', ['/w/x', '/w/sub/y', '/w/sub/err']],
      ['sed -i s/a/b/ f1 f2', ['/w/f1', '/w/f2']],
      ['cat x | tee -a ~/log /w/../z', ['/home/u/log', '/z']],
      ['sudo bash -c "rm deep/k"', ['/w/deep/k']],
      ['cp a b', ['/w/b', '/w/b/a']],
      ['echo $(date) > "$UNKNOWN"; ls 2>&1; cat < in; grep -r a .', []],
    ];
    for (const [command, paths] of named) assert.deepEqual(written(command), paths, command);
  });
});

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
