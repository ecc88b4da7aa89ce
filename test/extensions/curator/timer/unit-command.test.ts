import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { isJsonObject, parseJson } from '#base/json.ts';
import { ownVerifier } from '#extensions/curator/timer/timer-request.ts';
import { createMachine } from './machine.ts';
import { readAssignment, readExecStart } from './read-systemd.ts';

const MAIN = resolve(import.meta.dirname, '../../../../src/surfaces/cli/main.ts');

test('the command in the unit, started with nothing but the home of the person, is a run', async (t) => {
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
  const parsed = parseJson(stdout);
  assert.ok(parsed.ok && isJsonObject(parsed.value) && isJsonObject(parsed.value.config));
  assert.equal(parsed.value.mode, 'apply-low-risk');
  assert.deepEqual(parsed.value.config.auto_apply_allowlist, ['a*', "it's $X %h"]);
});

test('a shell reads our own verifier as it was meant', () => {
  const program = ['/usr/bin/printf', '%s|', "it's", 'a b', '$HOME', '`x`', '"', '\\', '', 'é', ';'];
  const { stdout } = spawnSync('/bin/sh', ['-c', ownVerifier(program)], { encoding: 'utf8' });
  assert.equal(stdout, [...program.slice(2), 'curator', 'skill-validate', ''].join('|'));
});
