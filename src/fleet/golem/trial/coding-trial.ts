// Owns the trial on real files (hierarchy notes G): lives in houses of small repositories whose faults are planted, first without a model, then with
// one if it is named. Knows no surface. Invariants: both heirs meet the same faults in the same order; a parent's home is gone before its heir is
// born, and only the testament crosses; commands run within the walls of the one who asked.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { TalariaError } from '#base/errors.ts';
import type { Ground } from '#core/agent/room.ts';
import type { Walls } from '#core/tools/walls/walls.ts';
import { openCodingDomain } from '../domains/coding.ts';
import type { DomainPlugin } from '../domains/domain.ts';
import { createEnclosedRunner, type EnclosedPlace } from '../domains/enclosed.ts';
import { modelSettings } from '../golem-home.ts';
import type { TickRecord } from '../hooks.ts';
import { buildHouse, createHouseDomain, type Dialect, incidentsOf, type Project } from './coding-world.ts';
import { type Arm, runSeeds, sure, type TrialOptions, type TrialReport, wholeLife } from './sim-trial.ts';
import { counted, gained, least, type Measured, most } from './statistics.ts';

const TICKS = { parent: 40, heir: 20 };

interface CodingOptions extends TrialOptions {
  /** Its id: heirs are asked with it. Absent: no model answers. */
  readonly model?: string | undefined;
  readonly ticks?: typeof TICKS;
}

export async function runCodingTrial(owner: Ground, options: CodingOptions): Promise<TrialReport> {
  const walls = (await owner.open()).walls();
  const { kind, detail, fix = 'talaria doctor says what is missing.' } = walls.state();
  if (kind === 'none') throw new TalariaError(`Nothing keeps commands in here (${detail}).`, { code: 'no-walls', fix });
  const env = await owner.commandVariables();
  return runSeeds(owner, options, {
    judgedFrom: 10,
    measures: options.model === undefined ? MEASURES : MEASURES_WITH_MODEL,
    runSeed: (clade, seed) => runSeed({ owner, clade, walls, env }, seed, options),
  });
}

/** What lives of a trial stand on. */
interface Yard {
  /** Whose models answer, and whose time commands and models take. */
  readonly owner: Ground;
  readonly clade: Ground;
  readonly walls: Walls;
  readonly env: EnclosedPlace['env'];
}

type CodingArm = Arm<TickRecord>;
type SeedArms = Readonly<Record<'alpha' | 'seeded' | 'control', CodingArm> & Record<'placebo', CodingArm | undefined>>;

interface HouseLife {
  readonly name: string;
  readonly house: readonly Project[];
  readonly stream: number;
  readonly ticks: number;
  readonly from?: string;
  readonly model?: string | undefined;
}

async function runSeed(yard: Yard, seed: number, options: CodingOptions): Promise<SeedArms> {
  const { ticks = TICKS, model } = options;
  const build = (dialect: Dialect) => buildHouse(join(yard.clade.places.home, dialect), seed, dialect, yard.env);
  const live = (asked: HouseLife) => liveInHouse(yard, asked, options);
  const parent = { stream: seed, ticks: ticks.parent };
  const heir = { house: await build('next'), stream: seed + 20_000, ticks: ticks.heir, model };
  const alpha = await live({ ...parent, name: 'alpha', house: await build('here') });
  const seeded = await live({ ...heir, name: 'seeded', from: alpha.testament });
  const control = await live({ ...heir, name: 'control' });
  if (model === undefined) return { alpha, seeded, control, placebo: undefined };
  const other = await live({ ...parent, name: 'other', house: await build('elsewhere') });
  return { alpha, seeded, control, placebo: await live({ ...heir, name: 'placebo', from: other.testament }) };
}

async function liveInHouse(yard: Yard, asked: HouseLife, options: CodingOptions): Promise<CodingArm> {
  const { owner, clade, walls, env } = yard;
  const { name, house, stream, model, ticks, from } = asked;
  const hasModel = model !== undefined;
  const { clock } = owner;
  /** A worktree each, below the folder that a model's tools work in. */
  const openDomain = async ({ worktree: folder }: { readonly worktree: string }): Promise<DomainPlugin> => {
    mkdirSync(folder);
    const projects = new Map<string, { readonly domain: DomainPlugin; readonly worktree: string }>();
    for (const project of house) {
      const worktree = join(folder, project.name);
      const { run } = createEnclosedRunner({ walls: async () => walls, work: worktree, cwd: worktree, env, clock });
      const about = { name, repository: project.path, worktree, run, clock, env, model: hasModel };
      const domain = sure(await openCodingDomain({ ...about, test: 'sh test.sh', every: 0 }));
      projects.set(project.name, { domain, worktree });
    }
    return createHouseDomain(incidentsOf(house, stream), projects);
  };
  const life = {
    draft: {
      golem: { name, domain: 'coding' as const },
      // On a clock that leaps over every wait; with a model time is real, and nobody waits for the next tick.
      heartbeat: { max_actions: 5, base_interval_seconds: hasModel ? 0.001 : 60 },
      hermes: { curator_interval: 10, dream_interval: 20, feedback_flush_interval: 5 },
    },
    ...(hasModel ? { clock, config: (await modelSettings(owner.places, model)) ?? '' } : {}),
    ...{ without: options.without ?? new Set(), models: hasModel, ticks, from, openDomain },
    livedOf: (record: TickRecord) => {
      const { tag, text } = record.observation;
      if (tag === 'unseen') throw new TalariaError(`${name} could not look: ${text}`, { code: 'trial-broken' });
      return record;
    },
  };
  return wholeLife(clade, life, options.signal);
}

const green = ({ outcome }: TickRecord) => Number(outcome?.success ?? false);
const runs = (tick: TickRecord) => tick.actions.length;
const follows = ({ followed }: TickRecord) => Number(followed !== undefined);

const MEASURES: readonly Measured<SeedArms>[] = [
  ['seeded − control, green', gained('seeded', green), least(0.0001)],
  ['seeded − control, runs to green', gained('seeded', runs), most(-0.3)],
  ['alpha, green, last 20', counted('alpha', green, [-20])],
  ['seeded, green', counted('seeded', green)],
  ['control, green', counted('control', green)],
  ['seeded, ticks that follow a procedure', counted('seeded', follows)],
];

/** A tick; nothing is expected. */
const MEASURES_WITH_MODEL = Object.entries({
  ...{ green, steps: runs, tokens: ({ cost }: TickRecord) => cost.tokens, dollars: ({ cost }: TickRecord) => cost.usd },
  'ticks that the model answered': ({ answered_by: by }: TickRecord) => Number(by !== 'rule' && by !== 'nobody'),
  'ticks that follow a procedure': follows,
}).flatMap(([what, of]): readonly Measured<SeedArms>[] => [
  ...(['seeded', 'placebo'] as const).map((arm) => [`${arm} − control, ${what}`, gained(arm, of)] as const),
  ...(['seeded', 'control', 'placebo'] as const).map((arm) => [`${arm}, ${what}`, counted(arm, of)] as const),
]);
