import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  execStart,
  launchdPlist,
  launchdTrigger,
  quoteAssignment,
  type ServiceSpec,
  systemdCalendar,
  systemdUnits,
} from '#base/process/service-units.ts';
import { ownVerifier } from '#extensions/curator/timer-plan.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { slow } from '../../slow.ts';
import { createMachine, hasSystemdAnalyze, NO_SYSTEMD, readAssignment, readExecStart, verifyUnits } from './machine.ts';

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

const base: ServiceSpec = {
  ...{ name: 'curator-auto', about: ['One run', 'When'], program: ['/bin/t'], args: [], schedule: 'daily', env: {} },
  logs: { out: '/o', err: '/e' },
};

function serviceOf(words: readonly string[]): string {
  return systemdUnits({ ...base, program: words, env: { A: 'b c%d$e"\\' } }, 'daily').service;
}

/** The strings of ProgramArguments, by the rules of XML 1.0. */
function argumentsIn(plist: string): readonly string[] {
  const list = /<key>ProgramArguments<\/key>\s*<array>([\s\S]*?)<\/array>/.exec(plist)?.[1] ?? '';
  const NAMES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&#13;': '\r' };
  return [...list.matchAll(/<string>([^<]*)<\/string>/g)].map(([, text = '']) => {
    assert.doesNotMatch(text, /\r/, 'a bare carriage return is read as a line end');
    return text.replace(/&[^;]*;/g, (entity) => NAMES[entity] ?? assert.fail(entity));
  });
}

describe('the plist of launchd', () => {
  test('any words of XML come back, others are refused', () => {
    const word = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a & b', '<string>', ']]>', '\r\n', "'", '"'));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 5 }), (args) => {
        const isXml = args.every((text) => !/[^\t\n\r -\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u.test(text));
        const build = () => launchdPlist({ ...base, args }, { StartInterval: 60 });
        if (isXml) assert.deepEqual(argumentsIn(build()), ['/bin/t', ...args]);
        else assert.throws(build, { code: 'timer-text' });
      }),
    );
  });

  test('hourly, daily, weekly and seconds', () => {
    const shown = (schedule: string) => {
      const trigger = launchdTrigger(schedule);
      return trigger.ok ? launchdPlist({ ...base, args: [], env: { A: '<' } }, trigger.value) : trigger.reason;
    };
    assert.match(shown('hourly'), /<key>StartInterval<\/key>\n<integer>3600<\/integer>/);
    assert.match(
      shown('daily'),
      /<dict>\n<key>Hour<\/key>\n<integer>9<\/integer>\n<key>Minute<\/key>\n<integer>0<\/integer>\n<\/dict>/,
    );
    assert.match(shown('weekly'), /<key>Weekday<\/key>\n<integer>1<\/integer>\n<key>Hour<\/key>\n<integer>9</);
    assert.match(shown('90'), /<integer>90<\/integer>/);
    assert.match(shown('90'), /<key>Label<\/key>\n<string>ai\.talaria\.curator\.auto<\/string>/);
    assert.match(shown('90'), /<key>EnvironmentVariables<\/key>\n<dict>\n<key>A<\/key>\n<string>&lt;<\/string>/);
    for (const wrong of ['', '0', '-5', '1.5', 'monthly', 'Mon 9:00', '9'.repeat(12)])
      assert.equal(shown(wrong), 'schedule-invalid', wrong);
  });
});

test('no schedule that passes for systemd can end its line or be expanded in it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (schedule) => {
      const calendar = systemdCalendar(schedule);
      if (calendar.ok) assert.match(calendar.value, /^[A-Za-z0-9,.:~*/_+-][A-Za-z0-9 ,.:~*/_+-]*$/);
    }),
  );
});

const MAIN = resolve(import.meta.dirname, '../../../src/surfaces/cli/main.ts');

slow('the command in the unit, started with nothing but the home of the person, is a run', async (t) => {
  const machine = createMachine(t, ['systemctl'], [process.execPath, MAIN]);
  await machine.curator('install-auto', { allowAutoApplySkill: ['a*', "it's $X %h"] });
  const unit = readFileSync(machine.unit('talaria-curator-auto.service'), 'utf8');
  const value = (name: string) =>
    unit
      .split('\n')
      .find((line) => line.startsWith(`${name}=`))
      ?.slice(name.length + 1) ?? '';
  const [program = '', ...args] = readExecStart(value('ExecStart'));
  const [, home = ''] = readAssignment(value('Environment')).split('=');
  const env = { HOME: machine.temp.path, TALARIA_HOME: home };
  const { status, stdout, stderr } = spawnSync(program, args, { env, cwd: '/', encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const parsed = JSON.parse(stdout);
  assert.equal(parsed.mode, 'apply-low-risk');
  assert.deepEqual(parsed.config.auto_apply_allowlist, ['a*', "it's $X %h"]);
});

test('a shell reads our own verifier as it was meant', () => {
  const program = ['/usr/bin/printf', '%s|', "it's", 'a b', '$HOME', '`x`', '"', '\\', '', 'é', ';'];
  const { stdout } = spawnSync('/bin/sh', ['-c', ownVerifier(program)], { encoding: 'utf8' });
  assert.equal(stdout, [...program.slice(2), 'curator', 'skill-validate', ''].join('|'));
});
