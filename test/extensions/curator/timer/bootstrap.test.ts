import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { verifies } from '../../../verifies.ts';
import { createMachine, type Machine, printedJson } from './machine.ts';

const SERVICE = 'talaria-curator-auto.service';

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
