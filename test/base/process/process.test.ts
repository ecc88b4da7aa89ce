import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, test } from 'node:test';
import { warmHelper } from '#base/process/command-helper.ts';
import { isProcessAlive } from '#base/process/holder.ts';
import { isGroupAlive, type ProcessRequest, runProcess, startProcess, withoutVariables } from '#base/process.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { until } from '../../ends.ts';
import { slow } from '../../slow.ts';

describe('base/process, started here', () => sameEitherWay((request, signal) => startProcess(request, signal).result));
describe('base/process, started by the helper', () => {
  before(async () => assert.ok(await warmHelper()));
  sameEitherWay(runProcess);
});

/** Whoever starts the commands, this is what they do. */
function sameEitherWay(runProcess: Run): void {
  let folder = '';
  const never = new AbortController().signal;
  const shell = (script: string, extra: Partial<ProcessRequest> = {}): ProcessRequest => ({
    argv: ['/bin/sh', '-c', script],
    cwd: folder,
    env: { PATH: process.env.PATH },
    ...extra,
  });
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'talaria-process-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('gives output of both streams, the exit code and the size', async () => {
    const result = await runProcess(shell('echo out; echo err >&2; exit 3'), never);
    assert.equal(result.ended, 'exit');
    assert.equal(result.exitCode, 3);
    assert.deepEqual(result.output.text.split('\n').sort(), ['', 'err', 'out']);
    assert.equal(result.output.totalBytes, 8);
    assert.equal(result.leftovers, false);
  });

  it('names the signal that ended it', async () => {
    const result = await runProcess(shell('kill -KILL $$'), never);
    assert.equal(result.signal, 'SIGKILL');
    assert.equal(result.exitCode, undefined);
  });

  it('says why a program cannot start', async () => {
    const missing = await runProcess({ argv: ['/no/such/program'], cwd: folder, env: {} }, never);
    assert.equal(missing.ended, 'not-started');
    assert.match(missing.error ?? '', /does not exist/);
    const huge = await runProcess({ argv: ['/bin/echo', 'x'.repeat(4_000_000)], cwd: folder, env: {} }, never);
    assert.match(huge.error ?? '', /too long/);
  });

  it('gives standard input, or none at all', async () => {
    assert.equal((await runProcess(shell('cat', { stdin: 'grüße' }), never)).output.text, 'grüße');
    assert.equal((await runProcess(shell('cat; echo end'), never)).output.text, 'end\n');
    const unread = await runProcess(shell('exit 0', { stdin: 'x'.repeat(1_000_000) }), never);
    assert.equal(unread.exitCode, 0);
  });

  it('ends the whole group at the time-out, also when TERM is ignored', async () => {
    const script = 'trap "" TERM; (trap "" TERM; echo $$; sleep 600) & echo ready; sleep 600';
    const clock = createManualClock();
    let heard = '';
    const onOutput = (chunk: string) => {
      heard += chunk;
    };
    const limits = { timeoutMs: 60_000, graceMs: 200 };
    const running = runProcess(shell(script, { limits, clock, onOutput }), never);
    await until(() => /ready/.test(heard) && /\d/.test(heard));
    await clock.advance(60_000);
    const result = await running;
    assert.equal(result.ended, 'timeout');
    assert.ok(!isRunning(Number(/\d+/.exec(heard)?.[0])));
  });

  it('ends grandchildren on abort and leaves none alive', async () => {
    const control = new AbortController();
    let seen = '';
    const result = await runProcess(
      shell("echo pid:$$; sh -c 'sleep 600 & echo pid:$!; wait'; echo after", {
        onOutput: (chunk) => {
          seen += chunk;
          if (/pid:\d+\npid:\d+\n/.test(seen)) control.abort();
        },
      }),
      control.signal,
    );
    assert.equal(result.ended, 'aborted');
    const pids = [...seen.matchAll(/pid:(\d+)/g)].map(([, pid]) => Number(pid));
    assert.deepEqual(pids.filter(isRunning), []);
  });

  it('does not start when the signal has already aborted', async () => {
    const result = await runProcess(shell('echo no'), AbortSignal.abort());
    assert.equal(result.ended, 'aborted');
    assert.equal(result.output.text, '');
  });

  it('ends what a finished command left running and says so', async () => {
    const result = await runProcess(shell('sleep 600 & echo $!'), never);
    assert.equal(result.ended, 'exit');
    assert.equal(result.leftovers, true);
    assert.ok(!isRunning(Number(result.output.text)));
  });

  slow('does not wait for an escaped process that holds the pipes', async () => {
    const script = "rm -f gone; setsid sh -c 'echo $$ > gone; exec sleep 600' & until [ -s gone ]; do :; done";
    await runProcess(shell(script), never);
    const escaped = Number(readFileSync(join(folder, 'gone'), 'utf8'));
    assert.ok(isRunning(escaped));
    process.kill(escaped, 'SIGKILL');
  });

  it('keeps head and tail, and the whole in the spill file', async () => {
    const spill = join(folder, 'deep', 'whole.txt');
    const limits = { headBytes: 100, tailBytes: 100, spill };
    const result = await runProcess(shell('seq 1 5000', { limits }), never);
    assert.equal(result.output.truncated, true);
    assert.match(result.output.text, /^1\n2\n/);
    assert.match(result.output.text, /4999\n5000\n$/);
    assert.equal(result.output.spill, spill);
    assert.equal(readFileSync(spill, 'utf8'), `${Array.from({ length: 5000 }, (_, i) => i + 1).join('\n')}\n`);
    assert.equal(statSync(spill).mode & 0o777, 0o600);
  });

  it('writes no spill file over another one', async () => {
    const limits = { headBytes: 10, tailBytes: 10, spill: join(folder, 'same.txt') };
    const first = await runProcess(shell('seq 1 100', { limits }), never);
    const second = await runProcess(shell('seq 1 200', { limits }), never);
    assert.equal(second.output.spill, join(folder, 'same-2.txt'));
    assert.ok(readFileSync(first.output.spill ?? '', 'utf8').endsWith('\n100\n'));
    assert.ok(readFileSync(second.output.spill ?? '', 'utf8').endsWith('\n200\n'));
  });

  it('makes no spill file for output that fits', async () => {
    const spill = join(folder, 'small.txt');
    const result = await runProcess(shell('seq 1 5', { limits: { spill } }), never);
    assert.equal(result.output.spill, undefined);
    assert.ok(!readdirSync(folder).includes('small.txt'));
  });

  it('ends a command whose output never stops', async () => {
    const limits = { maxBytes: 2_000_000, spill: join(folder, 'yes.txt') };
    const result = await runProcess(shell('yes', { limits }), never);
    assert.equal(result.ended, 'too-much-output');
    assert.ok(statSync(join(folder, 'yes.txt')).size < 3_000_000);
  });

  it('says when the spill file cannot be written, and still gives head and tail', async () => {
    const limits = { headBytes: 10, tailBytes: 10, spill: '/dev/full' };
    const result = await runProcess(shell('seq 1 1000', { limits }), never);
    assert.match(result.output.spillError ?? '', /the disk is full/);
    assert.equal(result.output.spill, undefined);
    assert.match(result.output.text, /1000\n$/);
  });

  it('streams whole characters', async () => {
    const chunks: string[] = [];
    await runProcess(
      shell("printf '\\303'; sleep 0.05; printf '\\244'", { onOutput: (chunk) => chunks.push(chunk) }),
      never,
    );
    assert.deepEqual(chunks, ['ä']);
  });

  it('leaves no listener on the signal and no zombie', async () => {
    const control = new AbortController();
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    for (let i = 0; i < 20; i += 1) await runProcess(shell('true'), control.signal);
    process.off('warning', onWarning);
    assert.deepEqual(warnings, []);
    assert.deepEqual(zombies(), []);
  });

  it('gives exactly the folder, the words and the environment that were asked for, and a session of its own', async () => {
    const env = { PATH: process.env.PATH, EMPTY: '', ODD: "a 'b'\n$c ü", GONE: undefined };
    const script = 'pwd; printf "%s|" "$@"; env -0 | sort -z | tr "\\0" "|"; ps -o pid=,pgid=,sid=,tty= -p $$';
    const argv = ['/bin/bash', '-c', script, 'x', '', "two 'words'", '$HOME\n'];
    const { output } = await runProcess({ argv, cwd: folder, env }, never);
    const [words = '', ids = ''] = output.text.split(/\|\s*(?=\d+ +\d+ +\d+ +\S+\n$)/);
    assert.ok(words.startsWith(`${folder}\n|two 'words'|$HOME\n|EMPTY=|ODD=a 'b'\n$c ü|PATH=`), words);
    assert.ok(!words.includes('GONE'));
    const [pid, group, session, terminal] = ids.trim().split(/ +/);
    assert.deepEqual([group, session, terminal], [pid, pid, '?']);
  });
}

test('base/process converses, and ends by the end of the input, by TERM or by KILL, as it must', async () => {
  for (const [onEnd, signal] of [
    ['exit 0', undefined],
    ['exec sleep 600', 'SIGTERM'],
    ['trap "" TERM; sleep 600 & wait; wait', 'SIGKILL'],
  ] as const) {
    const stop = new AbortController();
    let heard = '';
    const onOutput = (chunk: string) => {
      heard += chunk;
    };
    const argv = ['/bin/sh', '-c', `read word; echo "got $word"; read word; ${onEnd}`];
    const env = { PATH: process.env.PATH };
    const limits = { graceMs: 100 };
    const running = startProcess({ argv, cwd: '/', env, converses: true, limits, onOutput }, stop.signal);
    running.input?.write('tea\n');
    await until(() => heard === 'got tea\n');
    stop.abort();
    const result = await running.result;
    assert.deepEqual([result.ended, result.signal], ['aborted', signal]);
    assert.equal(isGroupAlive(running.pid), false);
  }
});

test('base/process takes named variables out of an environment', () => {
  assert.deepEqual(withoutVariables({ A: '1', SECRET: 'x', B: '2' }, ['SECRET']), { A: '1', B: '2' });
});

type Run = typeof runProcess;

function isRunning(pid: number): boolean {
  return isProcessAlive(pid) && !/ Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

function zombies(): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        return readFileSync(`/proc/${name}/stat`, 'utf8');
      } catch {
        return '';
      }
    })
    .filter((stat) => stat.split(' ')[2] === 'Z' && stat.split(' ')[3] === String(process.pid));
}
