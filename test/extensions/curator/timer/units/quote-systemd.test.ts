import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { execStart, quoteAssignment, systemdUnits } from '#extensions/curator/timer/units/systemd-units.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { readAssignment, readExecStart } from '../read-systemd.ts';
import { hasSystemdAnalyze, NO_SYSTEMD, verifyUnits } from '../systemd-analyze.ts';

const anyText = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', ''));
const nasty = fc
  .array(fc.constantFrom(...'"\'\\$%;{}@-+:!# \t\n\r=aZ9é€𝄞\u0001\u007f\u0085\u2028\uFFFE\uFEFF'), { maxLength: 8 })
  .map((parts) => parts.join(''));
const word = fc.oneof(nasty, anyText);

const LISTED = [
  ['a b'],
  ['"', "'", '\\', '\\\\', '\\n', '\n', '\t', '\r\n'],
  ['$HOME', '${HOME}', '$$', '%h', '%%', '100%'],
  [';', '; x', '#', '{}', '@x', '-x', '+x', ':x', '!x', '|', '&'],
  ['', ' ', '  '],
  ['é', '€', '𝄞', '\u0085', '\u2028', '\uFFFE', '\uFEFF', '\u{1FFFE}'],
  ['\u0001', '\u001b[0m', '\u007f'],
  ['a\\', 'ends in \\'],
];

describe('words in ExecStart', () => {
  test('what is plain stays plain', () => {
    assert.equal(
      execStart(['/usr/bin/node', '/opt/t/main.js', 'curator', '--format', 'json']),
      '/usr/bin/node /opt/t/main.js curator --format json',
    );
  });

  test('quotes, percent, dollar and backslash are written as systemd wants them', () => {
    assert.equal(execStart(['/bin/x', 'a "b" c', '5%', '$X', '\\']), '/bin/x "a \\"b\\" c" "5%%" "$$X" "\\\\"');
  });

  test('any list of words is read back as it was', () => {
    for (const args of LISTED)
      assert.deepEqual(readExecStart(execStart(['/bin/echo', ...args])), ['/bin/echo', ...args]);
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (args) => {
        assert.deepEqual(readExecStart(execStart(['/bin/echo', ...args])), ['/bin/echo', ...args]);
      }),
    );
  });

  test('any program is read back, through a shell where systemd takes no such name', () => {
    fc.assert(
      fc.property(word, word, (name, arg) => {
        const program = `/${name}`;
        const read = readExecStart(execStart([program, arg]));
        if (read[0] === '/bin/sh') assert.deepEqual(read, ['/bin/sh', '-c', 'exec "$0" "$@"', program, arg]);
        else assert.deepEqual(read, [program, arg]);
      }),
    );
  });

  test('a value of the environment is read back, or refused when systemd would leave it out', () => {
    fc.assert(
      fc.property(word, (value) => {
        if (/[^\P{Cc}\t\n]/u.test(value)) assert.throws(() => quoteAssignment('A', value), { code: 'timer-text' });
        else assert.equal(readAssignment(quoteAssignment('A', value)), `A=${value}`);
      }),
    );
  });

  test('what no process can be given is refused', () => {
    for (const text of ['a\0b', '\uD800']) assert.throws(() => execStart(['/bin/x', text]), { code: 'timer-text' });
  });
});

describe('words as systemd itself reads them', { skip: hasSystemdAnalyze ? false : NO_SYSTEMD }, () => {
  test('each list comes back from systemd-analyze verify', (t) => {
    const home = createTempHome(t);
    const lists = [...LISTED, ...fc.sample(fc.array(word, { minLength: 1, maxLength: 5 }), { numRuns: 40, seed: 7 })];
    const paths = lists.map((args, i) => home.write(`w${i}.service`, serviceOf(['/bin/echo', ...args])));
    const { status, messages, commands } = verifyUnits(paths, home.path);
    assert.deepEqual([status, messages], [0, '']);
    const sorted = (all: readonly (readonly string[])[]) => all.map((words) => JSON.stringify(words)).sort();
    assert.deepEqual(sorted(commands), sorted(lists.map((args) => ['/bin/echo', ...args])));
  });

  test('a program in a folder with an odd name is found', (t) => {
    const home = createTempHome(t);
    const paths = ['a b', 'c$d', 'e%f', 'é', "it's", 'back\\slash', '$$', '%h'].map((name, i) => {
      const program = join(home.path, name, 'prog');
      mkdirSync(dirname(program));
      copyFileSync('/bin/true', program);
      chmodSync(program, 0o700);
      return home.write(`p${i}.service`, serviceOf([program, 'x']));
    });
    const { status, messages } = verifyUnits(paths, home.path);
    assert.deepEqual([status, messages], [0, '']);
  });
});

function serviceOf(words: readonly string[]): string {
  const spec = {
    program: words,
    args: [],
    schedule: 'daily',
    env: { A: 'b c%d$e"\\' },
    logs: { out: '/o', err: '/e' },
  };
  return systemdUnits(spec, 'daily').service;
}
