/** The verifier that is a command. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { createWalls } from '#core/tools/walls/create-walls.ts';
import type { Walls } from '#core/tools/walls/walls.ts';
import { commandVerifier, runVerifiers } from '#mind/skills/door/verify.ts';
import type { Verifier } from '#mind/skills/skill.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifierContract, verifierSample } from '../../contract/verifier.contract.ts';
import { until } from '../../ends.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';

/** A verifier that is a command: what it is told, how it ends, and that nothing of it stays behind. */

const GOOD = 'grep good "$HERMES_CURATOR_TARGET_PATH" || { echo "it does not say so" >&2; exit 4; }';
const env = { PATH: process.env.PATH };
verifierContract('command', () => ({ verifier: commandVerifier({ name: 'verify-command', command: GOOD, env }) }));

const walled = (): Walls =>
  createWalls({
    mode: 'auto',
    env: process.env,
    userHome: '/nowhere',
    dataHome: '/nowhere',
    paths: [],
    hosts: [],
    clock: systemClock,
  });
const unwalled = walled().state().kind === 'walls' ? false : 'skipped: bubblewrap is missing (apt install bubblewrap)';
if (unwalled === false)
  verifierContract('command behind walls', () => {
    const walls = walled();
    const verifier = commandVerifier({ name: 'verify-command', command: GOOD, env, walls });
    return { verifier, close: () => void walls.close() };
  });

slow(
  'command verifier: behind walls it sees a copy, no network and no other folder',
  {
    skip: unwalled,
  },
  async (context) => {
    const walls = walled();
    context.after(() => walls.close());
    const outside = createTempHome(context);
    const command = [
      'cat "$HERMES_CURATOR_TARGET_PATH" "$HERMES_CURATOR_BACKUP_PATH" "$HERMES_CURATOR_MANIFEST_PATH"',
      'echo changed > "$HERMES_CURATOR_TARGET_PATH"',
      `echo out > ${outside.path}/out; cat /proc/net/dev | tail -n +3; pwd`,
    ].join('; ');
    const { request, result } = asked(context, command, { walls });
    const { detail, passed } = await result;
    assert.ok(passed, detail);
    assert.match(detail, /good[\s\S]*before[\s\S]*\{\}/);
    assert.ok(!existsSync(join(outside.path, 'out')) && !detail.includes('eth0'));
    assert.match(readFileSync(join(request.path, 'SKILL.md'), 'utf8'), /good/);
    assert.ok(!existsSync(detail.trim().split('\n').at(-1) ?? ''));
    const placed = asked(context, 'pwd; cat here', { walls, cwd: outside.path });
    outside.write('here', 'read');
    assert.equal((await placed.result).detail, `${outside.path}\nread`);
  },
);

const scripted: Verifier = {
  name: 'scripted',
  verify: async ({ after }) =>
    after?.includes('good') ? { passed: true, detail: 'good' } : { passed: false, detail: 'not good', exitCode: 2 },
};
verifierContract('scripted', () => ({ verifier: scripted }));

function asked(context: TestContext, command: string, more: Partial<Parameters<typeof commandVerifier>[0]> = {}) {
  const { request, remove } = verifierSample('good');
  context.after(remove);
  const verifier = commandVerifier({ name: 'verify-command', command, env, ...more });
  return { request, verifier, result: verifier.verify(request) };
}

describe('command verifier', () => {
  verifies(
    'curator:verify:environment',
    'tells target, backup, manifest and both hashes, and nothing more',
    async (context) => {
      process.env.TALARIA_TEST_SECRET = 'inherited';
      context.after(() => {
        delete process.env.TALARIA_TEST_SECRET;
      });
      const { request, result } = asked(context, 'env; pwd');
      const { detail, passed } = await result;
      assert.ok(passed);
      const lines = detail.trim().split('\n');
      for (const line of [
        `HERMES_CURATOR_TARGET_PATH=${join(request.path, 'SKILL.md')}`,
        `HERMES_CURATOR_BACKUP_PATH=${request.backupPath}`,
        `HERMES_CURATOR_MANIFEST_PATH=${request.manifestPath}`,
        `HERMES_CURATOR_ORIGINAL_SHA256=${request.originalHash}`,
        `HERMES_CURATOR_NEW_SHA256=${request.newHash}`,
        `PATH=${env.PATH}`,
        request.path,
      ])
        assert.ok(lines.includes(line), line);
      assert.doesNotMatch(detail, /inherited/);
      const bare = await asked(context, 'env', { env: {}, cwd: '/' }).result;
      const names = bare.detail.split('\n').map((line) => line.split('=')[0] ?? '');
      assert.deepEqual(
        names.filter((name) => !/^(?:HERMES_CURATOR_|PYTHONDONTWRITEBYTECODE|PWD|OLDPWD|SHLVL|_|$)/.test(name)),
        [],
      );
    },
  );

  test("the caller's variables cannot pretend to be the change", async (context) => {
    const { request, result } = asked(context, 'echo "$HERMES_CURATOR_NEW_SHA256"', {
      env: { HERMES_CURATOR_NEW_SHA256: 'forged' },
    });
    assert.equal((await result).detail.trim(), request.newHash);
  });

  test('streams are merged in order; at most the last 4,000 characters are kept, never half of one', async (context) => {
    const merged = await asked(context, 'echo one; echo two >&2; echo three').result;
    assert.equal(merged.detail, 'one\ntwo\nthree\n');
    const { verifier, request } = asked(
      context,
      'i=0; while [ $i -lt 700 ]; do echo "line $i 🪶🪶🪶🪶🪶🪶"; i=$((i+1)); done; exit 3',
    );
    const { verify } = await runVerifiers([verifier], request);
    assert.equal(Array.from(verify.output).length, 4_000);
    assert.ok(verify.output.isWellFormed() && verify.output.endsWith('line 699 🪶🪶🪶🪶🪶🪶\n'));
    assert.doesNotMatch(verify.output, /left out/);
  });

  test('a key that it prints is not kept', async (context) => {
    const key = `ghp_${'a1B2c3D4e5'.repeat(4)}`;
    const { verifier, request } = asked(context, `echo token ${key}`);
    const { verify } = await runVerifiers([verifier], request);
    assert.doesNotMatch(JSON.stringify(verify), /ghp_/);
    assert.match(verify.output, /^token /);
  });

  test('each end has its exit code', async (context) => {
    const code = async (command: string, more: Partial<Parameters<typeof commandVerifier>[0]> = {}) => {
      const { passed, exitCode } = await asked(context, command, more).result;
      return [passed, exitCode];
    };
    assert.deepEqual(await code('true'), [true, 0]);
    assert.deepEqual(await code('exit 9'), [false, 9]);
    assert.deepEqual(await code('no-such-program-anywhere'), [false, 127]);
    assert.deepEqual(await code('true', { cwd: '/no/such/folder' }), [false, 125]);
    assert.deepEqual(await code('kill -9 $$'), [false, 137]);
    assert.deepEqual(await code('kill -TERM $$'), [false, 143]);
    assert.deepEqual(await code('if then'), [false, 2]);
  });

  slow('a time limit ends every process that it started, also those that do not listen', async (context) => {
    const home = createTempHome(context);
    const note = join(home.path, 'pids');
    const deaf = `trap "" TERM; (trap "" TERM; echo $$ >> ${note}; sleep 60) & sleep 60 & echo $! >> ${note}; echo begun; wait`;
    const clock = createManualClock();
    const { result } = asked(context, deaf, { timeoutMs: 60_000, clock });
    const begun = () => existsSync(note) && readFileSync(note, 'utf8').trim().split('\n').length === 2;
    await until(begun);
    await clock.advance(60_000);
    const { passed, exitCode, detail } = await result;
    assert.deepEqual([passed, exitCode], [false, 124]);
    assert.match(detail, /^(?:begun\n)?\[ended after 60,?000 ms\]$/);
    for (const pid of readFileSync(note, 'utf8').trim().split('\n'))
      assert.ok(!isRunning(Number(pid)), `${pid} still runs`);
  });

  test('an exit of 0 after a stop from outside is no pass', async (context) => {
    const control = new AbortController();
    const { result } = asked(context, 'trap "exit 0" TERM; echo up; sleep 30 & wait', { signal: control.signal });
    await systemClock.sleep(100);
    control.abort();
    const { passed, exitCode } = await result;
    assert.deepEqual([passed, exitCode], [false, 143]);
    const late = await asked(context, 'true', { signal: control.signal }).result;
    assert.equal(late.passed, false);
  });
});

function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z';
  } catch {
    return false;
  }
}
