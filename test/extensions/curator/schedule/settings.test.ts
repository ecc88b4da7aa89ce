import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { autoRunFlags, scheduleSchema } from '#extensions/curator/schedule/schedule-config.ts';
import { createStage, runCommand } from '../../../surfaces/app/app-fixture.ts';

describe('the section `curator` of config.yaml', () => {
  test('its settings are known to `config`, checked before they are written, and shown', async (t) => {
    const stage = createStage(t);
    const file = stage.temp.write('home/config.yaml', '# mine\nversion: 1\n');
    const set = (key: string, value: string) => runCommand(stage, 'config set', { key, value });
    assert.equal((await set('curator.schedule', 'daily')).failure, undefined);
    assert.equal((await set('curator.schedule', 'dayly')).failure?.code, 'config-value');
    assert.equal((await set('curator.max_skills', '99')).failure?.code, 'config-value');
    assert.match((await set('curator.shedule', 'daily')).failure?.fix ?? '', /curator\.schedule\?/);
    assert.equal((await runCommand(stage, 'config get', { key: 'curator.schedule' })).data, 'daily');
    assert.equal((await runCommand(stage, 'config get', { key: 'curator.write' })).data, false);
    assert.match((await runCommand(stage, 'config show')).text, /curator\.min_evidence \| 2/);
    assert.equal(readFileSync(file, 'utf8'), '# mine\nversion: 1\ncurator:\n  schedule: daily\n');
  });

  test('a section that is wrong is named by line and key when Talaria starts', async (t) => {
    const stage = createStage(t);
    stage.temp.write('home/config.yaml', 'curator:\n  schedule: dayly\n');
    await assert.rejects(runCommand(stage, 'cost'), {
      code: 'config-invalid',
      message: /config\.yaml:2:\d+: curator\.schedule/,
    });
    assert.match((await runCommand(stage, 'config show')).text, /agent\.max_steps/);
  });

  test('nothing runs and nothing is written unless it says so; writing needs one setting', () => {
    const config = scheduleSchema.parse({});
    assert.deepEqual([config.schedule, config.write], ['off', false]);
    const flags = autoRunFlags(config, 'check');
    assert.deepEqual([flags.apply_low_risk, flags.approve_auto_apply, flags.verify_command], [false, false, 'check']);
    const writing = autoRunFlags(scheduleSchema.parse({ write: true, verify_command: 'mine' }), 'check');
    assert.deepEqual(
      [writing.apply_low_risk, writing.approve_auto_apply, writing.verify_command],
      [true, true, 'mine'],
    );
  });
});
