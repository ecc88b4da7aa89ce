import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { writeServiceFiles } from '#base/process/service.ts';
import { installedTimer } from '#extensions/curator/timer-plan.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';
import {
  createMachine,
  hasSystemdAnalyze,
  type Machine,
  NO_SYSTEMD,
  printedJson,
  readExecStart,
  verifyUnits,
} from './machine.ts';

const SERVICE = 'talaria-curator-auto.service';
const TIMER = 'talaria-curator-auto.timer';
const NO_BUS = "echo 'Failed to connect to bus: No medium found' >&2; exit 1";

function commandIn(service: string): readonly string[] {
  const line = /^ExecStart=(.*)$/m.exec(readFileSync(service, 'utf8'))?.[1];
  assert.ok(line !== undefined);
  return readExecStart(line);
}

/** Everything after `name` up to the next flag. */
function flag(words: readonly string[], name: string): string | undefined {
  const at = words.indexOf(name);
  return at < 0 ? undefined : words[at + 1];
}

describe('curator install-auto', () => {
  verifies(
    'curator:timer:install',
    'the seed command as typed: both units, reloaded, turned on, and said so',
    async (t) => {
      const machine = createMachine(t);
      const ran = await machine.curator('install-auto', { schedule: 'daily', enable: true });
      assert.equal(ran.failure, undefined);
      const result = printedJson(ran);
      assert.deepEqual(
        [result.installed, result.enabled, result.scheduler, result.plist_path, result.schedule],
        [true, true, 'systemd', null, 'daily'],
      );
      assert.deepEqual([result.service_path, result.timer_path], [machine.unit(SERVICE), machine.unit(TIMER)]);
      assert.equal(result.auto_apply_policy, 'local-agent-created-skills-only');
      assert.match(String(result.statement), /written unattended.*uninstall-auto/s);
      assert.deepEqual(machine.calls('systemctl'), ['--user daemon-reload', `--user enable --now ${TIMER}`]);
      assert.match(readFileSync(machine.unit(TIMER), 'utf8'), /^OnCalendar=daily\nPersistent=true$/m);
      const words = commandIn(machine.unit(SERVICE));
      assert.deepEqual(result.command, words);
      assert.deepEqual(words.slice(1, 3), ['curator', 'auto-run']);
      assert.equal(flag(words, '--format'), 'json');
      for (const model of ['--semantic-candidates', '--rerank-candidates']) assert.ok(!words.includes(model));
      assert.match(
        readFileSync(machine.unit(SERVICE), 'utf8'),
        new RegExp(`^Environment=TALARIA_HOME=${machine.root}$`, 'm'),
      );
      assert.deepEqual(installedTimer({ places: { userHome: machine.temp.path } as never, variables: {} }), {
        service_path: machine.unit(SERVICE),
        timer_path: machine.unit(TIMER),
      });
    },
  );

  verifies('curator:timer:flags', 'the command has what it was installed with', async (t) => {
    const machine = createMachine(t);
    await machine.curator('install-auto', {
      allowAutoApplySkill: ['git-*', "it's"],
      blockAutoApplySkill: ['x y'],
      protectCoreSkills: false,
      rerankCandidates: true,
      skillsDir: 'my skills',
    });
    const words = commandIn(machine.unit(SERVICE));
    assert.equal(flag(words, '--skills-dir'), join(machine.cwd, 'my skills'));
    for (const one of ['--apply-low-risk', '--approve-auto-apply', '--no-protect-core-skills', '--rerank-candidates'])
      assert.ok(words.includes(one), one);
    assert.equal(words.filter((word) => word === '--allow-auto-apply-skill').length, 2);
    assert.equal(flag(words, '--block-auto-apply-skill'), 'x y');
    assert.match(flag(words, '--verify-command') ?? '', /talaria curator skill-validate$/);
    assert.equal(flag(words, '--verify-cwd'), join(machine.cwd, 'my skills'));

    await machine.curator('install-auto', { verifyCommand: "check 'all' $HERMES_CURATOR_TARGET_PATH", verifyCwd: '~' });
    const own = commandIn(machine.unit(SERVICE));
    assert.equal(flag(own, '--verify-command'), "check 'all' $HERMES_CURATOR_TARGET_PATH");
    assert.equal(flag(own, '--verify-cwd'), machine.temp.path);

    await machine.curator('install-auto', { verifySkills: false });
    assert.ok(!commandIn(machine.unit(SERVICE)).includes('--verify-command'));
  });

  test('proposals only: no write flag is in the unit, and it is said', async (t) => {
    const machine = createMachine(t);
    const result = printedJson(await machine.curator('install-auto', { proposalOnly: true }));
    assert.deepEqual([result.auto_apply_policy, result.unattended_writing], ['dry-run-only', false]);
    assert.match(String(result.statement), /Nothing is written/);
    const words = commandIn(machine.unit(SERVICE));
    for (const one of ['--apply-low-risk', '--approve-auto-apply', '--verify-command'])
      assert.ok(!words.includes(one), one);
  });

  test('a dry run shows files and commands, and touches nothing', async (t) => {
    const machine = createMachine(t);
    const ran = await machine.curator('install-auto', { dryRun: true, enable: true });
    assert.match(ran.text, /Nothing was written.*The timer is on/s);
    assert.match((await machine.curator('install-auto', { dryRun: true })).text, /written but not on/);
    for (const shown of [/^\[Timer\]$/m, /^ExecStart=/m, /would run: .*daemon-reload/, /would run: .*enable --now/])
      assert.match(ran.text, shown);
    const json = printedJson(await machine.curator('install-auto', { dryRun: true, format: 'json' }));
    assert.deepEqual([json.installed, json.enabled, json.dry_run], [false, false, true]);
    assert.equal(existsSync(join(machine.temp.path, '.config')), false);
    assert.deepEqual(machine.calls('systemctl'), []);
  });

  test('systemctl that fails: its code and output are in the result, the command fails and says what to do', async (t) => {
    const machine = createMachine(t);
    machine.program('systemctl', NO_BUS);
    const ran = await machine.curator('install-auto', { enable: true });
    const result = printedJson(ran);
    assert.deepEqual([result.installed, result.enabled], [true, false]);
    assert.deepEqual(result.systemctl, { exit_code: 1, output: 'Failed to connect to bus: No medium found\n' });
    assert.deepEqual([ran.failure?.exitCode, ran.failure?.code], [1, 'timer-not-enabled']);
    assert.match(ran.failure?.fix ?? '', /loginctl enable-linger.*curator\.schedule daily/);
    assert.deepEqual(machine.calls('systemctl'), ['--user daemon-reload']);
    const quiet = await machine.curator('install-auto', {});
    assert.equal(quiet.failure, undefined, 'nothing was asked of systemd but to look again');
  });

  test('neither systemd nor launchd: refused with the way that is left, nothing written', async (t) => {
    const machine = createMachine(t, []);
    const ran = await machine.curator('install-auto', { enable: true });
    assert.deepEqual([ran.failure?.exitCode, ran.failure?.code], [3, 'no-scheduler']);
    assert.match(ran.failure?.fix ?? '', /curator\.schedule/);
    assert.equal(existsSync(join(machine.temp.path, '.config')), false);
  });

  test('a schedule that nobody understands is refused before anything is written', async (t) => {
    const machine = createMachine(t);
    for (const schedule of ['', '  ', 'daily\nExecStart=/bin/x', '3600', '%h', 'a"b', 'x\\']) {
      const ran = await machine.curator('install-auto', { schedule });
      assert.deepEqual([ran.failure?.exitCode, ran.failure?.code], [2, 'schedule-invalid'], schedule);
    }
    machine.program('systemd-analyze', "echo 'Failed to parse calendar specification'; exit 1");
    const ran = await machine.curator('install-auto', { schedule: 'Mon..Fri 25:00' });
    assert.match(ran.failure?.message ?? '', /Failed to parse/);
    assert.deepEqual(machine.calls('systemd-analyze'), ['calendar -- Mon..Fri 25:00']);
    assert.equal(existsSync(machine.unit(TIMER)), false);
    machine.program('systemd-analyze');
    assert.equal((await machine.curator('install-auto', { schedule: 'Mon..Fri 9:00' })).failure, undefined);
    assert.match(readFileSync(machine.unit(TIMER), 'utf8'), /^OnCalendar=Mon\.\.Fri 9:00$/m);
  });

  test('a key in the verify command does not get into a unit', async (t) => {
    const machine = createMachine(t);
    const ran = await machine.curator('install-auto', { verifyCommand: `check sk-${'a1B2'.repeat(10)}` });
    assert.deepEqual([ran.failure?.exitCode, ran.failure?.code], [3, 'secret']);
    assert.equal(existsSync(machine.unit(SERVICE)), false);
  });

  test('when one of the two files cannot be written, neither is changed', async (t) => {
    const machine = createMachine(t);
    await machine.curator('install-auto', { schedule: 'weekly' });
    const before = readFileSync(machine.unit(SERVICE), 'utf8');
    const folder = dirname(machine.unit(SERVICE));
    rmSync(machine.unit(TIMER));
    mkdirSync(join(machine.unit(TIMER), 'in the way'), { recursive: true });
    await assert.rejects(machine.curator('install-auto', { proposalOnly: true }));
    assert.equal(readFileSync(machine.unit(SERVICE), 'utf8'), before);
    assert.deepEqual(readdirSync(folder).sort(), [SERVICE, TIMER]);
  });

  test('a folder that cannot be made is an error with its fix', async (t) => {
    const machine = createMachine(t);
    writeFileSync(join(machine.temp.path, '.config'), 'no folder');
    await assert.rejects(machine.curator('install-auto'), {
      code: 'write-failed',
      message: /cannot write .*\.service/,
      fix: /folder of your own/,
    });
  });

  slow('the units pass systemd-analyze verify', { skip: hasSystemdAnalyze ? false : NO_SYSTEMD }, async (t) => {
    const machine = createMachine(t);
    const odd = {
      allowAutoApplySkill: ['a b', '%h', '$X', 'é', '"', ';'],
      verifyCommand: 'echo "$HOME" | grep \'\\\\\' && :',
    };
    for (const [schedule, more] of [
      ['hourly', {}],
      ['daily', odd],
      ['weekly', {}],
      ['Mon..Fri *-*-* 09:00', odd],
    ] as const) {
      assert.equal((await machine.curator('install-auto', { schedule, ...more })).failure, undefined);
      const { status, messages, commands } = verifyUnits(
        [machine.unit(SERVICE), machine.unit(TIMER)],
        machine.temp.path,
      );
      assert.deepEqual([status, messages], [0, '']);
      assert.deepEqual(commands, [commandIn(machine.unit(SERVICE))]);
    }
  });
});

describe('a list of skills for the timer', () => {
  test('with an empty pattern, as an unset variable gives it, is a wrong use; nothing is written', async (t) => {
    const machine = createMachine(t);
    for (const key of ['allowAutoApplySkill', 'blockAutoApplySkill']) {
      const ran = await machine.curator('install-auto', { [key]: ['release', ' '] });
      assert.deepEqual([ran.failure?.exitCode, ran.failure?.code], [2, 'empty-pattern']);
      assert.match(ran.failure?.message ?? '', /^--(?:allow|block)-auto-apply-skill: /);
    }
    assert.equal(existsSync(machine.unit(SERVICE)), false);
  });

  test('that keeps every skill back makes no failed unit', async (t) => {
    const machine = createMachine(t);
    await machine.curator('install-auto');
    assert.match(readFileSync(machine.unit(SERVICE), 'utf8'), /^SuccessExitStatus=3$/m);
  });
});

describe('curator uninstall-auto', () => {
  verifies('curator:timer:remove', 'the timer goes off, its files go, nothing is left', async (t) => {
    const machine = createMachine(t);
    await machine.curator('install-auto', { enable: true });
    const wants = join(dirname(machine.unit(TIMER)), 'timers.target.wants');
    mkdirSync(wants);
    symlinkSync(machine.unit(TIMER), join(wants, TIMER));
    const ran = await machine.curator('uninstall-auto');
    const result = printedJson(ran);
    assert.deepEqual(result.removed, [machine.unit(TIMER), machine.unit(SERVICE)]);
    assert.deepEqual([result.missing, result.scheduler], [[], 'systemd']);
    assert.deepEqual(machine.calls('systemctl').slice(2), [`--user disable --now ${TIMER}`, '--user daemon-reload']);
    assert.deepEqual(readdirSync(wants), []);
    const again = printedJson(await machine.curator('uninstall-auto'));
    assert.deepEqual([again.removed, again.missing], [[], [machine.unit(TIMER), machine.unit(SERVICE)]]);
    assert.equal(machine.calls('systemctl').length, 4);
  });

  test('the files go although systemd cannot be reached, and the command says what it did not do', async (t) => {
    const machine = createMachine(t);
    await machine.curator('install-auto');
    machine.program('systemctl', NO_BUS);
    const ran = await machine.curator('uninstall-auto');
    assert.deepEqual([ran.failure?.exitCode, ran.failure?.code], [1, 'timer-not-disabled']);
    const fix = ran.failure?.fix ?? '';
    assert.ok(!/linger|curator\.schedule/.test(fix) && fix.length < 130, fix);
    assert.equal(existsSync(machine.unit(TIMER)), false);
  });

  test('--keep-enabled asks nobody', async (t) => {
    const machine = createMachine(t);
    await machine.curator('install-auto');
    const calls = machine.calls('systemctl').length;
    assert.equal((await machine.curator('uninstall-auto', { keepEnabled: true })).failure, undefined);
    assert.equal(machine.calls('systemctl').length, calls);
    assert.equal(existsSync(machine.unit(SERVICE)), false);
  });
});

describe('launchd', () => {
  test('an agent is written, loaded anew and taken away again', async (t) => {
    const machine = createMachine(t, []);
    machine.program('launchctl', '[ "$1" != bootout ] || exit 3');
    const result = printedJson(await machine.curator('install-auto', { schedule: '900', enable: true }));
    assert.deepEqual(
      [result.scheduler, result.enabled, result.plist_path, result.service_path],
      ['launchd', true, machine.plist, null],
    );
    const domain = `gui/${process.getuid?.()}`;
    const label = `${domain}/ai.talaria.curator.auto`;
    assert.deepEqual(machine.calls('launchctl'), [`bootout ${label}`, `bootstrap ${domain} ${machine.plist}`]);
    assert.match(readFileSync(machine.plist, 'utf8'), /<key>StartInterval<\/key>\n<integer>900<\/integer>/);
    assert.ok(existsSync(join(machine.root, 'logs')));
    machine.program('launchctl');
    assert.deepEqual(printedJson(await machine.curator('uninstall-auto')).removed, [machine.plist]);
    assert.equal(existsSync(machine.plist), false);
  });

  test('a schedule of systemd means nothing to it', async (t) => {
    const machine = createMachine(t, ['launchctl']);
    const ran = await machine.curator('install-auto', { schedule: 'Mon 9:00' });
    assert.equal(ran.failure?.code, 'schedule-invalid');
    assert.equal(existsSync(machine.plist), false);
  });
});

describe('the two files of a timer', () => {
  test('the first is put back when the second cannot be written', (t) => {
    const home = createTempHome(t);
    const first = home.write('a/first', 'old');
    writeFileSync(join(home.path, 'b'), 'no folder');
    const second = { path: join(home.path, 'b', 'second'), text: 'new' };
    for (const path of [first, join(home.path, 'a', 'fresh')]) {
      const before = readdirSync(join(home.path, 'a'));
      assert.throws(() => writeServiceFiles([{ path, text: 'new' }, second]), {
        code: 'write-failed',
        fix: /No file was changed/,
      });
      assert.deepEqual(readdirSync(join(home.path, 'a')), before);
    }
    assert.equal(readFileSync(first, 'utf8'), 'old');
  });
});

function writesIn(machine: Machine): boolean {
  return readFileSync(machine.unit(SERVICE), 'utf8').includes('--approve-auto-apply');
}

const yes = async () => 'y';

describe('curator bootstrap', () => {
  verifies('curator:bootstrap:one-command', 'fills the evidence, installs the timer and turns it on', async (t) => {
    const machine = createMachine(t);
    const sessions = join(machine.temp.path, 'sessions');
    machine.temp.write('sessions/session_a.json', sessionFile());
    const ran = await machine.curator('bootstrap', {
      sessionsDir: sessions,
      format: 'json',
      write: true,
      semantic: true,
    });
    assert.equal(ran.failure, undefined);
    const result = printedJson(ran);
    assert.deepEqual([result.schema_version, result.mode], ['0.10', 'bootstrap']);
    assert.deepEqual([result.semantic_requested, result.rerank_requested], [true, true]);
    const { backfill, auto_timer: timer, next_steps: steps } = result as Record<string, Record<string, unknown>>;
    assert.equal(backfill?.sessions_imported, 1);
    assert.deepEqual([timer?.installed, timer?.enabled, timer?.schedule], [true, true, 'daily']);
    assert.equal(Array.isArray(steps) && steps.length, 3);
    assert.match(String(timer?.statement), /written unattended/);
    assert.equal(writesIn(machine), true);
  });

  verifies(
    'curator:bootstrap:proposal-only',
    'without a yes the timer only plans; a person is asked once',
    async (t) => {
      const machine = createMachine(t);
      const questions: string[] = [];
      const answer = (text: string) => (question: string) => {
        questions.push(question);
        return Promise.resolve(text);
      };
      await machine.curator('bootstrap');
      assert.equal(writesIn(machine), false, 'nobody is there');
      assert.match((await machine.curator('bootstrap', {}, answer(''))).text, /Nothing is written/);
      assert.equal(writesIn(machine), false, 'silence');
      assert.match((await machine.curator('bootstrap', {}, answer('yes'))).text, /written unattended/);
      assert.equal(writesIn(machine), true, 'a yes');
      assert.equal(questions.length, 2);
      await machine.curator('bootstrap', { proposalOnly: true }, answer('yes'));
      assert.equal(writesIn(machine), false, 'only proposals');
      assert.equal(questions.length, 2);
    },
  );

  test('a dry run reads nothing, writes nothing and asks nothing', async (t) => {
    const machine = createMachine(t);
    const ran = await machine.curator('bootstrap', { dryRun: true }, () => Promise.reject(new Error('asked')));
    assert.match(ran.text, /would be read/);
    assert.match(ran.text, /ExecStart=/);
    assert.deepEqual(machine.calls('systemctl'), []);
    assert.equal(existsSync(machine.root), false);
  });

  test('a machine with no scheduler gets its evidence, and is told what is left', async (t) => {
    const machine = createMachine(t, []);
    const ran = await machine.curator('bootstrap', { format: 'json' });
    assert.deepEqual([ran.failure?.exitCode, ran.failure?.code], [3, 'no-scheduler']);
    assert.deepEqual((printedJson(ran).auto_timer as Record<string, unknown>).reason, 'no-scheduler');
    assert.ok(existsSync(join(machine.root, 'evidence.sqlite')));
  });

  test('a folder of sessions that was named and is not there is a failure, after everything else was done', async (t) => {
    const machine = createMachine(t);
    const ran = await machine.curator('bootstrap', { sessionsDir: 'nowhere' });
    assert.deepEqual([ran.failure?.exitCode, ran.failure?.code], [1, 'sessions-missing']);
    assert.ok(existsSync(machine.unit(SERVICE)));
    assert.equal((await machine.curator('bootstrap')).failure, undefined, 'the default one need not be there');
  });

  test('to write and to propose only is a contradiction, and nothing is done', async (t) => {
    const machine = createMachine(t);
    const ran = await machine.curator('bootstrap', { write: true, proposalOnly: true });
    assert.deepEqual([ran.failure?.exitCode, ran.failure?.code], [2, 'contradictory-flags']);
    assert.match(ran.failure?.message ?? '', /--write and --proposal-only/);
    assert.equal(existsSync(machine.root), false);
  });

  test('--no-enable writes the timer and leaves it off; a wrong schedule does nothing at all', async (t) => {
    const machine = createMachine(t);
    const wrong = await machine.curator('bootstrap', { schedule: 'x%' }, yes);
    assert.deepEqual([wrong.failure?.exitCode, wrong.failure?.code], [2, 'schedule-invalid']);
    assert.equal(existsSync(machine.root), false);
    await machine.curator('bootstrap', { enable: false });
    assert.deepEqual(machine.calls('systemctl'), ['--user daemon-reload']);
  });
});

function sessionFile(): string {
  const call = { id: 'c1', function: { name: 'skill_view', arguments: '{"name":"mine"}' } };
  return JSON.stringify({
    session_id: 's1',
    messages: [
      { role: 'user', content: 'look' },
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'text' },
      { role: 'assistant', content: 'done' },
    ],
  });
}
