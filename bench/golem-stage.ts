/** A throw-away home with golems for measuring: born, taught, lived in this process, and the folder gone afterwards. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leapingClock } from '#base/clock.ts';
import type { Ground } from '#core/agent/room.ts';
import { birth, type GolemPlaces, golemPlaces } from '#fleet/golem/golem-home.ts';
import type { GolemDraft } from '#fleet/golem/golem-toml.ts';
import { type Life, type LifeOptions, withLife } from '#fleet/golem/life.ts';
import { createSkillRanker } from '#mind/skills/library/offer-skills.ts';
import { createSkillLibrary } from '#mind/skills/library/skill-library.ts';
import { skillsCacheName } from '#mind/skills/library/skills-cache.ts';
import type { SkillRecord } from '#mind/skills/skill.ts';
import { lendGround } from '#surfaces/app/ground.ts';
import { openHouse } from '#surfaces/app/house.ts';
import { type MadeSkill, writeSkills } from './skill-texts.ts';
import { root } from './stub.ts';

const START_MS = 1_768_478_400_000;

export const never = new AbortController().signal;

export interface GolemStage {
  readonly ground: Ground;
  readonly folder: string;
  /** Default: a domain that is quiet for ever, on the machine itself. */
  bear(name: string, golem?: Partial<GolemDraft['golem']>, secondsBetween?: number): Promise<GolemPlaces>;
  /** So many skills with a record each, their words read, in the library of one that nobody lives. */
  teach(name: string, count: number): Promise<readonly MadeSkill[]>;
  /** On a clock of its own that leaps, and without a model, unless `options` say otherwise. */
  live<T>(name: string, options: LifeOptions, work: (life: Life) => Promise<T>): Promise<T>;
}

export async function withGolems<T>(work: (stage: GolemStage) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-bench-golem-'));
  const { PATH, HOME } = process.env;
  const variables = { PATH, HOME, TALARIA_HOME: folder };
  const program = [process.execPath, join(root, 'dist/main.js')];
  const environment = { variables, cwd: folder, userHome: folder, program };
  const house = openHouse({ environment });
  const { home, app, door, clock } = house;
  const ground = lendGround({ environment, home, clock, app, door });
  try {
    return await work({ ground, folder, ...stageOn(ground) });
  } finally {
    await house.shutdown();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function stageOn(ground: Ground): Omit<GolemStage, 'ground' | 'folder'> {
  const { home } = ground.places;
  return {
    bear: async (name, golem = { domain: 'watch', dir: home }, secondsBetween = 60) => {
      const draft = { golem: { name, ...golem }, heartbeat: { base_interval_seconds: secondsBetween } };
      const born = await birth(ground, { draft, config: 'version: 1\nsandbox:\n  mode: machine\n' });
      if (!born.ok) throw new Error(born.detail);
      return born.value;
    },
    teach: (name, count) => teach(ground, golemPlaces(home, name).root, count),
    live: async (name, options, work) => {
      const lived = await withLife(ground, name, { models: false, clock: leapingClock(START_MS), ...options }, work);
      if (!lived.ok) throw new Error(lived.detail);
      return lived.value;
    },
  };
}

async function teach(ground: Ground, home: string, count: number): Promise<readonly MadeSkill[]> {
  const data = process.env.TALARIA_DATA;
  if (data === undefined) throw new Error('set TALARIA_DATA to the folder that holds data/skills-sample.jsonl');
  const made = writeSkills(join(home, 'skills'), { data, count, exchanged: 0.3 });
  const library = createSkillLibrary({ root: join(home, 'skills'), cacheFile: join(home, 'cache', skillsCacheName) });
  await library.ready();
  await createSkillRanker({ library }).prepare(never);
  library.close();
  const opened = ground.homeAt({ root: home, cwd: home });
  try {
    const records = await opened.ground.door('skillRecords');
    await Promise.all(made.map(({ name }) => records().put(recordOf(name))));
  } finally {
    await opened.shutdown();
  }
  return made;
}

/** One that helped and may be bequeathed. */
function recordOf(name: string): SkillRecord {
  const counts = { validatedCount: 3, improvedCount: 0, viewCount: 0, useCount: 4, successCount: 3, failureCount: 1 };
  return {
    ...{ name, ...counts, pinned: false, confidence: 0.7, priorConfidence: 0.5, priorWeight: 2, attribution: 0 },
    ...({ createdBy: 'agent', status: 'active', bloodstain: false, lineage: [], categories: ['incident'] } as const),
    ...{ version: 1, createdAt: START_MS, updatedAt: START_MS },
  };
}
