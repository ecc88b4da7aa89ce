// Owns composing what reads skills: the library over its cache, the ranking, the prompt's index. Loaded only where there are skills.
// Knows no door. Invariant: everything here reads through the one cache of the home.
import { join } from 'node:path';
import { skillsCacheName } from '#mind/skills/library/cache-tables.ts';
import type { SkillJudge } from '#mind/skills/library/judge/skill-judge.ts';
import { createSkillLibrary, type SkillLibrary } from '#mind/skills/library/skill-library.ts';
import { createSkillRanker, type SkillRanker } from '#mind/skills/offer/rank-skills.ts';
import { createSkillIndex, type SkillIndex } from '#mind/skills/offer/skill-index.ts';
import type { SkillRecords } from '#mind/skills/record/skill-records.ts';
import type { SkillGround } from './skill-ground.ts';

declare const TALARIA_VERSION: string | undefined;

export interface SkillReading {
  readonly library: SkillLibrary;
  readonly ranker: SkillRanker;
  readonly index: SkillIndex;
}

/** The guard is loaded when there is something to scan. */
function guardJudge(): SkillJudge {
  return {
    version: typeof TALARIA_VERSION === 'string' ? TALARIA_VERSION : 'source',
    judge: async (folder) => (await import('./skill-judging.ts')).judgeByGuard(folder),
  };
}

export function composeSkillReading(ground: SkillGround, records: Pick<SkillRecords, 'get'>): SkillReading {
  const { home, clock, external, embedder, notice } = ground;
  const library = createSkillLibrary({
    root: home.skills,
    external,
    cacheFile: join(home.cache, skillsCacheName),
    records: records.get,
    warn: notice,
    clock,
    ...(external.length > 0 ? { judge: guardJudge() } : {}),
  });
  const ranker = createSkillRanker({ library, clock, warn: notice, ...(embedder ? { embedder } : {}) });
  return { library, ranker, index: createSkillIndex(library) };
}
