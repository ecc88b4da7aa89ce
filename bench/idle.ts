/**
 * What the chat holds in memory while nobody types: at its prompt, and after one turn. On a terminal of `script`, against the stub.
 * RSS, which is what PSS comes to on a machine where no other Node runs; beside this bench PSS would count half of Node to the bench.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchRow, median, spread } from './bench-row.ts';
import { benchHome, run, startStub, talaria } from './stub.ts';

const LIMIT_MB = 70;
const PATIENCE_MS = 30_000;

export async function benchIdle(runs = 3): Promise<readonly BenchRow[]> {
  const stub = await startStub({ rounds: 0 });
  const home = benchHome(stub.baseUrl);
  const prompt: number[] = [];
  const turn: number[] = [];
  try {
    const terminal = await run('script', ['-qfc', 'true', '/dev/null']).catch(() => undefined);
    if (process.platform !== 'linux' || terminal?.code !== 0) {
      console.log('skipped idle: it reads /proc and needs `script` of util-linux');
      return [];
    }
    await run('sh', [talaria, '-p', 'hello'], { env: home.env });
    for (let i = 0; i < runs; i++) {
      const command = `stty rows 24 cols 80; exec sh '${talaria}'`;
      const env = { ...process.env, ...home.env, TERM: 'xterm-256color' };
      const child = spawn('script', ['-qfc', command, '/dev/null'], { stdio: ['pipe', 'ignore', 'ignore'], env });
      try {
        const pid = await started(child.pid ?? 0);
        prompt.push(await settled(pid));
        stub.take();
        child.stdin.write('hello\r');
        await until(() => stub.take().length > 0);
        turn.push(await settled(pid));
      } finally {
        child.kill();
      }
    }
  } finally {
    stub.stop();
    home.remove();
  }
  return [row('idle memory at the prompt', prompt), row('idle memory after a turn', turn)];
}

function row(metric: string, values: readonly number[]): BenchRow {
  const value = median(values);
  const note = `RSS of the chat, median of ${values.length} starts, ${spread(values, 0)}`;
  return { metric, value, target: `≤ ${LIMIT_MB}`, unit: 'MB', ok: value <= LIMIT_MB, note };
}

/** The process below `script` that has become the bundle. */
async function started(parent: number): Promise<number> {
  let found: number | undefined;
  await until(() => {
    found = descendants(parent).find((pid) =>
      read(`/proc/${pid}/cmdline`)
        .split('\0')
        .some((word) => word.endsWith('/main.js')),
    );
    return found !== undefined;
  });
  return found ?? 0;
}

function descendants(pid: number): readonly number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

/** MB, once they have stayed the same for three seconds. */
async function settled(pid: number): Promise<number> {
  let last = Number.NaN;
  let quiet = 0;
  await until(() => {
    const now = Number(/^Rss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1]) / 1024;
    quiet = Math.abs(now - last) < 0.5 ? quiet + 1 : 0;
    last = now;
    return quiet >= 12;
  });
  return last;
}

async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!isSo()) {
    if (performance.now() > end) throw new Error('the chat did not come to rest');
    await sleep(250);
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
