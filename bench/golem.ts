/**
 * Golems: a quiet tick, a thousand lived alone, the mind over its socket, a procedure out of ten thousand, a testament; the log and memory have
 * files of their own. Needs TALARIA_DATA.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Life, LifeOptions } from '#fleet/golem/life.ts';
import { readBundle, verifyBundle } from '#mind/skills/format/testament.ts';
import { type BenchRow, median, quantile } from './bench-row.ts';
import { logRows } from './golem-log.ts';
import { golemMemory } from './golem-processes.ts';
import { type GolemStage, never, withGolems } from './golem-stage.ts';
import { type MadeSkill, pickSentence, seededRandom } from './skill-texts.ts';
import { root, run } from './stub.ts';

export async function benchGolem(): Promise<readonly BenchRow[]> {
  const built = await run(process.execPath, [join(root, 'scripts/build.ts')]);
  if (built.code !== 0) throw new Error(built.err);
  const rows: BenchRow[] = [];
  for (const bench of [quietTick, unattended, roundTrip, retrieval, testament, logRows, golemMemory])
    rows.push(...(await withGolems(bench)));
  return rows;
}

const QUIET_TICKS = 500;

async function quietTick({ bear, live }: GolemStage): Promise<readonly BenchRow[]> {
  await bear('quiet');
  const cpu = await live('quiet', {}, async (life) => {
    await ticks(life, 50);
    const before = process.cpuUsage();
    await ticks(life, QUIET_TICKS);
    return (1_000 * seconds(before)) / QUIET_TICKS;
  });
  const note = `${QUIET_TICKS} ticks after 50 of a watch without checks, mind in process; sweeps of the curator and a dream counted in`;
  return [{ metric: 'golem: quiet tick, own CPU', value: cpu, unit: 'ms', target: '≤ 2', ok: cpu <= 2, note }];
}

/** Of CPU since then. */
function seconds(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

async function ticks(life: Life, count: number): Promise<void> {
  let lived = 0;
  for await (const event of life.live({ ticks: count, signal: never })) {
    if (event.type === 'tick') lived += 1;
    if (event.type === 'tick' && event.record.faults.length > 0) throw new Error(event.record.faults.join('\n'));
  }
  if (lived !== count) throw new Error(`${lived} of ${count} ticks were lived`);
}

const UNATTENDED_TICKS = 1_000;

async function unattended({ bear, live }: GolemStage): Promise<readonly BenchRow[]> {
  await bear('alone', { domain: 'sim' });
  const [began, before] = [performance.now(), process.cpuUsage()];
  const known = await live('alone', {}, async (life) => {
    await ticks(life, UNATTENDED_TICKS);
    return life.mind?.skills().length;
  });
  const value = (performance.now() - began) / 1_000;
  const note =
    `simulated world, a clock that leaps, no model; ${seconds(before).toFixed(1)} s of CPU, the rest is the disk's ` +
    `(durable commits in the temporary folder); ${known} skills at the end`;
  return [{ metric: 'golem: 1,000 ticks alone', value, unit: 's', target: '≤ 15', ok: value <= 15, note }];
}

const CALLS = 1_000;

async function roundTrip({ bear, live, ground: { clock } }: GolemStage): Promise<readonly BenchRow[]> {
  await bear('apart');
  const feedback = { tool: 'sim', success: true, outcome_value: null, tick: 1, context: 'incident: restart' };
  const times = await live('apart', { sidecar: true, clock }, async ({ hooks }) => {
    await hooks.session({ reason: 'start' });
    await timed(100, () => hooks.toolResult({ feedback }));
    return timed(CALLS, () => hooks.toolResult({ feedback }));
  });
  const value = median(times);
  const note = `${CALLS} calls after 100, feedback of which nothing is kept; p99 ${quantile(times, 0.99).toFixed(2)} ms, slowest ${Math.max(...times).toFixed(1)}`;
  return [{ metric: 'golem: mind over its socket, p50', value, unit: 'ms', target: '≤ 0.2', ok: value <= 0.2, note }];
}

async function timed(count: number, work: () => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return times;
}

const LIBRARY = 10_000;
const LOOKS = 300;
/** What stands in most observations and tells little. */
const COMMON = 'check failed exit error file the test run command output line not found'.split(' ');

async function retrieval({ bear, teach, live }: GolemStage): Promise<readonly BenchRow[]> {
  await bear('learned');
  const looks = looksAt(await teach('learned', LIBRARY));
  const pad = { pleasure: 0, arousal: 0, dominance: 0 };
  const [times, cpu, found] = await live('learned', {}, async ({ hooks }) => {
    await hooks.session({ reason: 'start' });
    const all: (readonly number[])[] = [];
    const own: number[] = [];
    let hits = 0;
    for (const { text, wanted } of looks) {
      const asked = { tick: 1, observation: { text, tag: 'incident', signals: [] }, pad, categories: ['incident'] };
      const { value } = await hooks.context(asked);
      if (value.procedures.some(({ name }) => name === wanted)) hits += 1;
      const before = process.cpuUsage();
      all.push(await timed(3, () => hooks.context(asked)));
      own.push(seconds(before) / 3);
    }
    return [all.map(median), own, hits] as const;
  });
  const value = quantile(times, 0.99);
  const note =
    `${LOOKS} observations of common words and a sentence of a skill, mind in process, median of three warm runs each; median ` +
    `${median(times).toFixed(1)}, slowest ${Math.max(...times).toFixed(1)}, p99 of its own CPU ${(1_000 * quantile(cpu, 0.99)).toFixed(1)}; the skill is among the three in ${((100 * found) / LOOKS).toFixed(1)} %`;
  return [{ metric: 'golem: 10,000 skills, p99', value, unit: 'ms', target: '≤ 30', ok: value <= 30, note }];
}

function looksAt(skills: readonly MadeSkill[]): readonly { readonly text: string; readonly wanted: string }[] {
  const random = seededRandom(11);
  const some = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const all: { readonly text: string; readonly wanted: string }[] = [];
  while (all.length < LOOKS) {
    const { name: wanted, body } = some(skills);
    const said = pickSentence(body, random);
    const common = Array.from({ length: 8 }, () => some(COMMON)).join(' ');
    if (said !== undefined) all.push({ text: `check ${common}\n${said}`, wanted });
  }
  return all;
}

const BEQUEATHED = 200;

async function testament({ bear, teach, live, ground: { clock } }: GolemStage): Promise<readonly BenchRow[]> {
  const dies = async (name: string, options: LifeOptions) => {
    await bear(name);
    await teach(name, BEQUEATHED);
    return live(name, options, async ({ hooks }) => {
      await hooks.session({ reason: 'start' });
      const began = performance.now();
      const { value } = await hooks.death({ tick: 1, cause: 'owner-kill' });
      if (value.skills !== BEQUEATHED) throw new Error(`${value.skills} skills were left`);
      return { path: value.path, seconds: (performance.now() - began) / 1_000 };
    });
  };
  const apart = await dies('apart', { sidecar: true, clock });
  const { path, seconds: written } = await dies('whole', {});
  const text = readFileSync(path, 'utf8');
  const began = performance.now();
  const read = readBundle(text);
  const verified = read.ok ? await verifyBundle(read.value, () => 'own') : read;
  const value = (performance.now() - began) / 1_000;
  if (!verified.ok) throw new Error(verified.detail);
  const size = `${BEQUEATHED} skills, ${(text.length / 1024).toFixed(0)} KB`;
  return [
    {
      ...{ metric: 'golem: testament written and signed', value: written, unit: 's', target: '≤ 2', ok: written <= 2 },
      note: `${size}; read again before it counts; by the mind beside it ${apart.seconds.toFixed(2)} s`,
    },
    {
      ...{ metric: 'golem: testament verified', value, unit: 's', target: '≤ 1', ok: value <= 1 },
      note: `${size}; read, checked, and the signer recovered`,
    },
  ];
}
