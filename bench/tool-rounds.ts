/** One round: a call, a command, a result, the next request. Against the floor agent plus two durable writes of the same run. */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchRow, median, spread } from './bench-row.ts';
import { benchHome, root, run, startStub, talaria } from './stub.ts';

export async function benchToolRounds(runs = 5): Promise<readonly BenchRow[]> {
  const short = await ratios(20, runs);
  const walled = await ratios(20, runs, 'auto');
  const long = await ratios(200, Math.max(2, Math.floor(runs / 2)));
  return [
    row('tool round, 20 rounds', short.ratio),
    row('tool round, 200 rounds', long.ratio),
    { ...row('tool round with walls, 20 rounds', walled.ratio), target: '–', ok: true },
    {
      metric: 'tool round, last 50 / first 50 of 200',
      value: median(long.growth),
      target: '≤ 1.1',
      unit: '×',
      ok: median(long.growth) <= 1.1,
      note: spread(long.growth),
    },
  ];
}

function row(metric: string, values: readonly number[]): BenchRow {
  const value = median(values);
  return {
    metric,
    value,
    target: '≤ 1.3',
    unit: '× (floor + 2 fdatasync)',
    ok: value <= 1.3,
    note: `median of ${values.length}, ${spread(values)}`,
  };
}

async function ratios(
  rounds: number,
  runs: number,
  walls: 'auto' | 'machine' = 'machine',
): Promise<{ ratio: number[]; growth: number[] }> {
  const stub = await startStub({ rounds });
  const ratio: number[] = [];
  const growth: number[] = [];
  try {
    for (let i = 0; i < runs; i++) {
      const home = benchHome(stub.baseUrl, walls);
      const ours = await perRound(stub, () => run('sh', [talaria, '-p', 'go'], { env: home.env }));
      const floor = await perRound(stub, () =>
        run(process.execPath, [join(root, 'bench/floor-agent.mjs'), 'go'], { env: home.env }),
      );
      home.remove();
      ratio.push(median(ours) / (median(floor) + 2 * syncMs()));
      growth.push(median(ours.slice(-50)) / median(ours.slice(0, 50)));
    }
  } finally {
    stub.stop();
  }
  return { ratio, growth };
}

/** Milliseconds between neighbouring requests. */
async function perRound(
  stub: Awaited<ReturnType<typeof startStub>>,
  start: () => ReturnType<typeof run>,
): Promise<number[]> {
  stub.take();
  const ran = await start();
  if (ran.code !== 0) throw new Error(`exit ${ran.code}: ${ran.err.slice(0, 400)}`);
  const times = stub.take().map((arrival) => arrival.arrived);
  return times.slice(1).map((time, i) => time - (times[i] ?? time));
}

function syncMs(): number {
  const path = join(tmpdir(), `talaria-sync-${process.pid}`);
  const file = openSync(path, 'w');
  const times: number[] = [];
  for (let i = 0; i < 40; i++) {
    const from = performance.now();
    writeSync(file, 'x'.repeat(300));
    fdatasyncSync(file);
    times.push(performance.now() - from);
  }
  closeSync(file);
  rmSync(path);
  return median(times);
}
