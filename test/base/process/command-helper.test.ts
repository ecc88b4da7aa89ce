import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { endHelper, warmHelper } from '#base/process/command-helper.ts';
import { type ProcessResult, runProcess } from '#base/process.ts';
import { slow } from '../../slow.ts';

describe('base/process/command-helper', () => {
  let folder = '';
  const never = new AbortController().signal;
  const sh = (script: string, onOutput?: (chunk: string) => void, signal = never): Promise<ProcessResult> =>
    runProcess(
      {
        argv: ['/bin/sh', '-c', script],
        cwd: folder,
        env: { PATH: process.env.PATH, MY_KEY: 'sk-sentinel' },
        ...(onOutput ? { onOutput } : {}),
      },
      signal,
    );
  const warm = async (): Promise<number> => {
    for (;;) {
      const pid = await warmHelper();
      assert.ok(pid);
      if (isRunning(pid)) return pid; // else it was killed, and that is not known yet
      await pause();
    }
  };
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'talaria-helper-'));
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await warmHelper();
  });

  it('first hour round: a command is started by the helper, which holds no key and no variable', async () => {
    const pid = await warm();
    const { output } = await sh(
      'echo $PPID; tr "\\0" " " < /proc/$PPID/cmdline; echo; wc -c < /proc/$PPID/environ; env',
    );
    const [parent, line = '', size, ...env] = output.text.trim().split('\n');
    assert.equal(Number(parent), pid);
    assert.match(line, /command-helper\.worker/);
    assert.ok(!line.includes('sentinel'));
    assert.equal(size, '0');
    assert.deepEqual(env.filter((name) => !name.startsWith('PWD=')).toSorted(), [
      'MY_KEY=sk-sentinel',
      `PATH=${process.env.PATH}`,
    ]);
    const open = await sh('ls /proc/$PPID/fd > /dev/null; for f in /proc/$$/fd/*; do readlink $f; done');
    assert.equal(open.output.text.split('\n').filter((name) => name.startsWith('socket:')).length, 2);
  });

  it('first hour round: commands at the same time keep their output, input and end apart', async () => {
    await warm();
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        runProcess(
          {
            argv: ['/bin/sh', '-c', `cat; seq ${n}000 ${n}999; exit ${n}`],
            cwd: folder,
            env: {},
            stdin: `in ${n}\n`,
            limits: { headBytes: 50_000 },
          },
          never,
        ),
      ),
    );
    for (const [n, { exitCode, output }] of all.entries()) {
      const lines = Array.from({ length: 1_000 }, (_, at) => Number(`${n}000`) + at);
      assert.equal(exitCode, n);
      assert.equal(output.text, `in ${n}\n${lines.join('\n')}\n`);
    }
  });

  it('first hour round: a command whose helper is killed is ended, says so, and the next one starts without a helper', async () => {
    const pid = await warm();
    let seen = '';
    const result = await sh('(sleep 60 & echo $!; wait) & echo $$; echo done; wait', (chunk) => {
      seen += chunk;
      if (seen.split('\n').length > 3) process.kill(pid, 'SIGKILL');
    });
    assert.equal(result.ended, 'lost');
    assert.match(result.error ?? '', /died: how this one ended is not known; what was left of it was ended$/);
    assert.match(result.output.text, /done/);
    for (const id of seen.match(/\d+/g) ?? []) assert.ok(!isRunning(Number(id)), id);
    const next = await sh('echo $PPID');
    assert.equal(Number(next.output.text), process.pid);
  });

  it('first hour round: what a dead helper had not taken up is started here, once', async () => {
    const pid = await warm();
    process.kill(pid, 'SIGSTOP');
    const running = sh('echo ran >> once; echo $PPID');
    process.kill(pid, 'SIGKILL');
    const result = await running;
    assert.equal(result.ended, 'exit');
    assert.equal(Number(result.output.text), process.pid);
    assert.equal(readFileSync(join(folder, 'once'), 'utf8'), 'ran\n');
  });

  it('first hour round: an abort that reaches no helper starts nothing', async () => {
    const pid = await warm();
    process.kill(pid, 'SIGSTOP');
    const control = new AbortController();
    const running = sh('echo ran >> aborted', undefined, control.signal);
    control.abort();
    process.kill(pid, 'SIGKILL');
    assert.equal((await running).ended, 'aborted');
    assert.ok(!readdirSync(folder).includes('aborted'));
  });

  it('first hour round: no command runs twice, whenever the helper dies, and none that ended well did not run', async () => {
    for (let round = 0; round < 12; round += 1) {
      const pid = await warm();
      const file = join(folder, `round-${round}`);
      const running = sh(`echo ran >> ${file}; echo over`);
      for (let turn = 0; turn < round * 10; turn += 1) await new Promise((next) => setImmediate(next));
      // It may have ended by itself meanwhile.
      spawnSync('kill', ['-9', String(pid)]);
      const { ended } = await running;
      const runs = readdirSync(folder).includes(`round-${round}`) ? readFileSync(file, 'utf8') : '';
      assert.ok(
        ended === 'exit' ? runs === 'ran\n' : ended === 'lost' && ['', 'ran\n'].includes(runs),
        `${ended} ${runs}`,
      );
    }
  });

  it('first hour round: a process with one command has no helper, with more it has one; both die with it', async () => {
    const parent = startScript(folder);
    const one = await parent.next();
    assert.deepEqual([one.parent, one.helpers], [parent.pid, 0]);
    let now = await parent.next();
    while (now.parent === parent.pid) now = await parent.next();
    assert.equal(now.helpers, 1);
    const sleeping = await parent.sleep();
    assert.ok(isRunning(sleeping) && isRunning(now.parent));
    process.kill(parent.pid, 'SIGKILL');
    while (isRunning(sleeping) || isRunning(now.parent)) await pause();
  });

  slow('first hour round: a helper that is not wanted ends, and commands go on without it', async () => {
    const pid = await warm();
    endHelper();
    assert.equal(Number((await sh('echo $PPID')).output.text), process.pid);
    while (isRunning(pid)) await pause();
  });
});

/** A process of its own: each line on its input runs one command, whose parent it tells; `sleep` starts one that stays. */
function startScript(folder: string) {
  const source = resolve(import.meta.dirname, '../../../src/base/process.ts');
  const file = join(folder, 'parent.ts');
  writeFileSync(
    file,
    `import { runProcess } from ${JSON.stringify(source)};
     import { createInterface } from 'node:readline';
     const run = (script: string, onOutput?: (chunk: string) => void) =>
       runProcess({ argv: ['/bin/sh', '-c', script], cwd: '/', env: { PATH: process.env.PATH }, onOutput }, new AbortController().signal);
     for await (const line of createInterface({ input: process.stdin }))
       if (line === 'sleep') void run('echo $$; exec sleep 600', (chunk) => process.stdout.write(chunk));
       else process.stdout.write((await run('echo $PPID')).output.text);`,
  );
  const child: ChildProcess = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const pid = child.pid ?? 0;
  const ask = (line: string): Promise<number> => {
    child.stdin?.write(`${line}\n`);
    return new Promise((done) => child.stdout?.once('data', (text) => done(Number(text))));
  };
  return {
    pid,
    next: async () => {
      const parent = await ask('next');
      await pause();
      return { parent, helpers: childrenOf(pid).length };
    },
    sleep: () => ask('sleep'),
  };
}

function childrenOf(pid: number): readonly string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && statOf(name)?.[1] === String(pid));
}

function isRunning(pid: number): boolean {
  const state = statOf(String(pid))?.[0];
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** State, parent … */
function statOf(pid: string): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

function pause(): Promise<void> {
  return new Promise((resume) => setTimeout(resume, 20));
}
