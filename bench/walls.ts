/** What walls cost a command: the least command there is, enclosed and bare in turn, in a folder and a home that are small. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#base/clock.ts';
import { runProcess } from '#base/process.ts';
import { createWalls } from '#core/tools/walls/create-walls.ts';
import { type BenchRow, median } from './bench-row.ts';

const ROUNDS = 101;

export async function benchWalls(): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync('/var/tmp/talaria-bench-');
  const [project, dataHome] = [join(folder, 'project'), join(folder, 'home')];
  for (const path of [project, dataHome]) mkdirSync(path);
  const options = { mode: 'auto', userHome: homedir(), dataHome, paths: [], hosts: [], clock: systemClock } as const;
  const walls = createWalls({ ...options, env: process.env });
  try {
    const state = walls.state();
    if (state.kind !== 'walls') throw new Error(`walls: ${state.detail}`);
    const request = { argv: ['/bin/bash', '-c', 'true'], cwd: project, env: { PATH: process.env.PATH } };
    const enclosure = { sessionId: 'bench', folder: project, openings: [], askHost: async () => false };
    const { signal } = new AbortController();
    const bare: number[] = [];
    const enclosed: number[] = [];
    for (let i = 0; i < ROUNDS; i += 1) {
      const from = performance.now();
      await runProcess(request, signal);
      const between = performance.now();
      const one = await walls.enclose(request, enclosure);
      const { exitCode, output } = await runProcess(one.request, signal);
      await one.settle({ output: output.text, failed: false });
      if (exitCode !== 0) throw new Error(output.text);
      bare.push(between - from);
      enclosed.push(performance.now() - between);
    }
    const more = median(enclosed) - median(bare);
    const note = `median of ${ROUNDS} in turn: ${median(enclosed).toFixed(1)} against ${median(bare).toFixed(1)} ms; the first ${(enclosed[0] ?? 0).toFixed(0)} ms; ${state.detail}`;
    return [{ metric: 'contained command, start', value: more, target: '≤ 15', unit: 'ms more', ok: more <= 15, note }];
  } finally {
    await walls.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
