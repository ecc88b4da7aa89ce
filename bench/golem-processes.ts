/**
 * What golems hold in memory, started from `dist` as a person starts them: the mind beside its golem, one that lived a thousand ticks, ten side by
 * side. They run on a copy of Node that nothing else maps, so that what is shared is shared among golems.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openGolem } from '#fleet/golem/golem-home.ts';
import { type BenchRow, median, spread } from './bench-row.ts';
import type { GolemStage } from './golem-stage.ts';
import { talaria } from './stub.ts';

const PATIENCE_MS = 180_000;

export async function golemMemory(stage: GolemStage): Promise<readonly BenchRow[]> {
  if (!existsSync('/proc/self/smaps_rollup')) {
    console.log('skipped memory of golems: it reads /proc');
    return [];
  }
  const node = join(stage.folder, 'node');
  copyFileSync(process.execPath, node);
  return [...(await mindBeside(stage)), await aged(stage), await sideBySide(stage)];
}

/** Lives those golems in processes of their own for as long as `work` takes. */
async function running<T>(
  { folder }: GolemStage,
  names: readonly string[],
  work: (pids: readonly number[]) => Promise<T>,
  ...flags: readonly string[]
): Promise<T> {
  const own = { HOME: folder, TALARIA_HOME: folder, TALARIA_NODE: join(folder, 'node'), XDG_CACHE_HOME: folder };
  const children = names.map((name): ChildProcess => {
    const env = { PATH: process.env.PATH, ...own };
    const args = [talaria, 'golem', 'run', name, ...flags];
    return spawn('sh', args, { env, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  });
  const ends = children.map((child) => once(child, 'exit'));
  try {
    return await work(children.flatMap(({ pid }) => pid ?? []));
  } finally {
    for (const child of children) child.kill();
    await Promise.all(ends);
  }
}

async function mindBeside(stage: GolemStage): Promise<readonly BenchRow[]> {
  const skills = 1_000;
  await stage.bear('beside');
  await stage.teach('beside', skills);
  const { pss, rss } = await running(
    stage,
    ['beside'],
    async ([golem = 0]) => {
      await lived(stage, 'beside', 1);
      const mind = read(`/proc/${golem}/task/${golem}/children`).split(' ').filter(Boolean).map(Number);
      const pid = mind.find((child) => read(`/proc/${child}/cmdline`).includes('\0mind\0'));
      return memory(await settled(pid ?? 0));
    },
    '--sidecar',
  );
  const note = `sidecar with ${skills} skills in its library, after its session began and nothing changed for ten seconds`;
  return [
    { metric: 'golem: mind beside it, PSS', value: pss, unit: 'MB', target: '≤ 50', ok: pss <= 50, note },
    { metric: 'golem: mind beside it, RSS', value: rss, unit: 'MB', target: '≤ 75', ok: rss <= 75, note },
  ];
}

async function aged(stage: GolemStage): Promise<BenchRow> {
  const ticks = 1_000;
  await stage.bear('aged', { domain: 'sim' }, 0.001);
  const { rss, most } = await running(stage, ['aged'], async ([pid = 0]) => {
    await lived(stage, 'aged', ticks);
    return memory(pid);
  });
  const note = `RSS at tick ${ticks} in the simulated world, no model, mind in process; the most until then ${most.toFixed(0)}`;
  return {
    metric: 'golem: memory after 1,000 ticks',
    ...{ value: rss, unit: 'MB', target: '≤ 120', ok: rss <= 120, note },
  };
}

async function sideBySide(stage: GolemStage): Promise<BenchRow> {
  const ticks = 30;
  const names = Array.from({ length: 10 }, (_, at) => `one-of-ten-${at}`);
  for (const name of names) await stage.bear(name, { domain: 'sim' }, 0.5);
  const all = await running(stage, names, async (pids) => {
    for (const name of names) await lived(stage, name, ticks);
    return pids.map((pid) => memory(pid).own);
  });
  const value = Math.max(...all);
  const note = `private memory of the largest of ten in the simulated world, two ticks a second, after ${ticks}; median ${median(all).toFixed(1)}, ${spread(all, 1)}`;
  return { metric: 'golem: ten side by side, each', value, unit: 'MB', target: '≤ 60', ok: value <= 60, note };
}

/** Until it has committed so many ticks. */
async function lived({ ground: { places, clock } }: GolemStage, name: string, ticks: number): Promise<void> {
  await until(async () => {
    const golem = await openGolem(places.home, name, { clock, readOnly: true });
    if (!golem.ok) throw new Error(golem.detail);
    const tick = golem.value.rows.state()?.tick ?? 0;
    golem.value.close();
    return tick >= ticks;
  });
}

/** Once its memory has stayed the same for ten seconds: V8 gives back what it does not need after some. */
async function settled(pid: number): Promise<number> {
  let last = Number.NaN;
  let quiet = 0;
  await until(() => {
    const { rss } = memory(pid);
    quiet = Math.abs(rss - last) < 0.5 ? quiet + 1 : 0;
    last = rss;
    return quiet >= 40;
  });
  return pid;
}

/** MB. */
function memory(pid: number) {
  const text = read(`/proc/${pid}/smaps_rollup`) + read(`/proc/${pid}/status`);
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]) / 1024;
  return { rss: of('Rss'), pss: of('Pss'), own: of('Private_Clean') + of('Private_Dirty'), most: of('VmHWM') };
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error('the golems did not come so far');
    await sleep(250);
  }
}

function read(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
