// Owns the trial in the simulated world (hierarchy notes G), and what both trials stand on: does what one golem learned help the next? Every arm is a
// whole life on the real rooms, in one process, on a clock of its own; only the testament file crosses. Knows no surface. Invariants: all arms of a
// seed meet the same incidents; a parent's home is gone before its heir is born.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leapingClock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { seededRandom, shuffled } from '#base/ids.ts';
import { canonicalJson, type JsonValue } from '#base/json.ts';
import type { Result } from '#base/result.ts';
import type { Ground } from '#core/agent/room.ts';
import { readBundle, type SkillTestament, signBundle } from '#mind/skills/format/testament.ts';
import type { DomainPlugin } from '../domains/domain.ts';
import { createSimDomain, type SimDomain } from '../domains/sim.ts';
import { SIM_ACTIONS, type SimKind, SimWorld } from '../domains/sim-world.ts';
import { type BirthRequest, birth, type GolemPlaces, readKey } from '../golem-home.ts';
import type { TickRecord } from '../hooks.ts';
import { type Life, type LifeOptions, withLife } from '../life.ts';
import { withParts } from '../mind/skill-form.ts';
import { brier } from '../vitals.ts';
import { counted, gained, least, type Measure, type Measured, measure, most } from './statistics.ts';

const PARENT_TICKS = 600;
const HEIR_TICKS = 200;
const START_MS = 1_768_478_400_000;

export interface TrialOptions extends Pick<LifeOptions, 'without'> {
  readonly seeds: number;
  readonly signal: AbortSignal;
  readonly progress?: ((line: string) => void) | undefined;
  /** Heirs are given what a library makes of their parent's testament. Throws TalariaError `no-door` where there is none. */
  readonly library?: boolean | undefined;
}

export interface TrialReport {
  readonly seeds: number;
  readonly measures: readonly Measure[];
  readonly missed: readonly string[];
}

export async function runSeeds<Seed>(
  ground: Ground,
  { seeds, signal, progress }: TrialOptions,
  trial: {
    /** Seeds from which on gates are judged. */
    readonly judgedFrom: number;
    readonly measures: readonly Measured<Seed>[];
    readonly runSeed: (clade: Ground, seed: number) => Promise<Seed>;
  },
): Promise<TrialReport> {
  const lived: Seed[] = [];
  for (let seed = 1; seed <= seeds; seed += 1) {
    signal.throwIfAborted();
    progress?.(`seed ${seed} of ${seeds}`);
    lived.push(await withClade(ground, (clade) => trial.runSeed(clade, seed)));
  }
  progress?.('');
  const measures = trial.measures.map((one) => measure(one, lived, seeds >= trial.judgedFrom));
  return { seeds, measures, missed: measures.filter(({ holds }) => holds === false).map(({ name }) => name) };
}

/** A home of its own for the lives of one world; it is gone afterwards. In memory where there is such a folder: the disk's speed is no part. */
export async function withClade<T>(ground: Ground, work: (clade: Ground) => Promise<T>): Promise<T> {
  const memory = '/dev/shm';
  const root = mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), 'talaria-trial-'));
  const clade = ground.homeAt({ root, cwd: root, clock: leapingClock(START_MS) });
  try {
    return await work(clade.ground);
  } finally {
    await clade.shutdown();
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** What a life left, and the key that signed it. */
export interface Arm<Lived> {
  readonly lived: readonly Lived[];
  readonly testament: string;
  readonly key: string;
}

interface WholeLife<Lived> extends Omit<LifeOptions, 'domain'>, Omit<BirthRequest, 'from'> {
  readonly ticks: number;
  /** Text of a testament or of a kit. */
  readonly from?: string | undefined;
  /** Its home stays. */
  readonly keeps?: boolean;
  readonly openDomain: (places: GolemPlaces) => DomainPlugin | Promise<DomainPlugin>;
  readonly livedOf: (record: TickRecord, life: Life) => Lived;
}

/** From its birth to its testament. */
export async function wholeLife<Lived>(
  ground: Ground,
  { ticks, from, keeps = false, openDomain, livedOf, ...asked }: WholeLife<Lived>,
  signal: AbortSignal,
): Promise<Arm<Lived>> {
  const isKit = from?.includes('"kind":"seed-kit"');
  const parent = isKit ? { lineage: [], generation: 0 } : from === undefined ? undefined : bundleOf(from);
  const heir = parent && from !== undefined ? { from: { ...parent, text: from } } : {};
  const places = sure(await birth(ground, { ...asked, ...heir }));
  const options = { models: false, ...asked, domain: await openDomain(places) };
  const lived: Lived[] = [];
  const death = await withLife(ground, asked.draft.golem.name, options, async (life) => {
    for await (const event of life.live({ ticks, signal }))
      if (event.type === 'tick') lived.push(livedOf(event.record, life));
    return life.end('owner-kill', signal);
  });
  const testament = readFileSync(sure(death).path ?? '', 'utf8');
  signal.throwIfAborted();
  const key = readKey(places) ?? '';
  if (!keeps) rmSync(places.root, { recursive: true, force: true, maxRetries: 3 });
  return { lived, testament, key };
}

/** Nobody refuses within a trial. */
export function sure<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new TalariaError(result.detail, { code: result.reason });
}

export function bundleOf(text: string): SkillTestament {
  const bundle = sure(readBundle(text));
  if (bundle.kind === 'skill-testament') return bundle;
  throw new TalariaError('the trial made no testament', { code: 'trial-broken' });
}

interface SimLife extends Pick<WholeLife<unknown>, 'ticks' | 'from' | 'keeps' | 'without'> {
  readonly name: string;
  readonly world: SimWorld;
  readonly stream: number;
}

export function liveInSim(ground: Ground, { name, world, stream, ...asked }: SimLife, signal: AbortSignal) {
  const domain = createSimDomain(world, stream);
  const draft = { golem: { name, domain: 'sim' as const } };
  const livedOf = (record: TickRecord, { mind }: Life) =>
    incidentOf(record, domain.last(), (skill) => mind?.skill(skill)?.steps);
  return wholeLife(ground, { ...asked, draft, openDomain: () => domain, livedOf }, signal);
}

/** One incident of one life. */
function incidentOf(
  { procedures, prediction, outcome, actions, followed, deviated }: TickRecord,
  last: ReturnType<SimDomain['last']>,
  stepsOf: (skill: string) => readonly string[] | undefined,
) {
  const cures = procedures.map(({ name }) => stepsOf(name)?.join() === last?.kind.cure.join());
  const success = outcome?.success ?? false;
  return {
    ...{ success, actions: actions.length, p: prediction?.p ?? 0.5, is: last?.kind.is ?? 'known' },
    /** Of the procedures that were injected, the share that cures it; undefined: none was. */
    fit: cures.length === 0 ? undefined : cures.filter(Boolean).length / cures.length,
    /** Skill that led out. */
    followed: success && !deviated ? followed?.name : undefined,
  };
}

type SimArm = Awaited<ReturnType<typeof liveInSim>>;
type Incident = SimArm['lived'][number];

export function runSimTrial(ground: Ground, options: TrialOptions): Promise<TrialReport> {
  const { without = new Set(), signal, library } = options;
  const runSeed = async (clade: Ground, seed: number) => {
    const world = SimWorld.of(seed);
    const live = (asked: SimLife) => liveInSim(clade, { ...asked, without }, signal);
    const parent = { stream: seed, ticks: PARENT_TICKS };
    const heir = { world: world.neighbour(seed + 10_000), stream: seed + 20_000, ticks: HEIR_TICKS };
    const alpha = await live({ ...parent, name: 'alpha', world });
    const other = await live({ ...parent, name: 'other', world: SimWorld.of(seed + 30_000) });
    const given = async (text: string) => (library ? (await clade.door('library')).through([text], 'observer') : text);
    const seeded = await live({ ...heir, name: 'seeded', from: await given(alpha.testament) });
    return {
      ...{ alpha, seeded },
      control: await live({ ...heir, name: 'control' }),
      placebo: await live({ ...heir, name: 'placebo', from: await given(other.testament) }),
      poisoned: await live({ ...heir, name: 'poisoned', from: await given(await poison(alpha, seed)) }),
      third: await live({ ...heir, name: 'third', from: await given(seeded.testament) }),
    };
  };
  return runSeeds(ground, options, { judgedFrom: library ? 10 : 30, measures: MEASURES, runSeed });
}

/** Every step replaced at random, and signed with the very key: what no signature can tell. */
async function poison({ testament, key }: SimArm, seed: number): Promise<string> {
  const random = seededRandom(seed);
  const { signer: _signer, signature: _signature, ...bundle } = bundleOf(testament);
  const skills = bundle.skills.map((skill) => ({
    ...skill,
    skill_md: withParts(skill.skill_md, { steps: shuffled(SIM_ACTIONS, random).slice(0, 3) }),
  }));
  return `${canonicalJson((await signBundle({ ...bundle, skills }, key)) as unknown as JsonValue)}\n`;
}

const success = (one: Incident) => Number(one.success);
const actions = (one: Incident) => one.actions;
const fit = (one: Incident) => one.fit ?? [];
const successOf = (kind: SimKind['is']) => (one: Incident) => (one.is === kind ? success(one) : []);
const FIRST = [0, 100] as const;
const LAST = [-100] as const;

const MEASURES = [
  ['seeded − control, success, first 100', gained('seeded', success, FIRST), least(0.25)],
  ['seeded − control, actions, first 100', gained('seeded', actions, FIRST), most(-1)],
  ['placebo − control, success, first 100', gained('placebo', success, FIRST), most(0.08)],
  ['poisoned − control, success, 200 ticks', gained('poisoned', success), least(-0.1)],
  ['seeded − control, drifted kinds', gained('seeded', successOf('drifted')), least(-0.2)],
  ['alpha, first 100', counted('alpha', success, FIRST)],
  ['alpha, last 100', counted('alpha', success, LAST), least(0.9, 'mean')],
  ['third generation − control, success, first 100', gained('third', success, FIRST)],
  ['seeded, success, first 100', counted('seeded', success, FIRST)],
  ['control, success, first 100', counted('control', success, FIRST)],
  ['seeded − control, Brier, first 100', gained('seeded', brier, FIRST)],
  ['seeded, injected procedures that fit', counted('seeded', fit)],
  ['seeded − control, fresh kinds', gained('seeded', successOf('fresh'))],
  ['seeded − control, success, last 100', gained('seeded', success, LAST)],
] as const;
