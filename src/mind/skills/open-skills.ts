// Owns opening what reads skills: the library over its cache, the ranking, the prompt's index.
import { join } from 'node:path';
import type { RoomGround } from '#core/agent/room.ts';
import { createSkillRanker, type SkillRanker } from './library/offer-skills.ts';
import { createSkillIndex, type SkillIndex } from './library/skill-index.ts';
import { createSkillLibrary, type SkillLibrary } from './library/skill-library.ts';
import type { SkillJudge } from './library/skills-cache.ts';
import { skillsCacheName } from './library/skills-cache.ts';
import type { SkillRecords } from './skill-records.ts';

declare const TALARIA_VERSION: string | undefined;

export interface OpenedReading {
  readonly library: SkillLibrary;
  readonly ranker: SkillRanker;
  readonly index: SkillIndex;
}

/** `external`: absolute folders that are read only. */
export async function openReading(
  { clock, places, notice: warn, embedder }: RoomGround,
  { records, external }: { readonly records: SkillRecords; readonly external: readonly string[] },
): Promise<OpenedReading> {
  const library = createSkillLibrary({
    root: places.skills,
    external,
    cacheFile: join(places.cache, skillsCacheName),
    records: records.get,
    warn,
    clock,
    ...(external.length > 0 ? { judge: guardJudge } : {}),
  });
  const vectors = await embedder();
  const ranker = createSkillRanker({ library, clock, warn, ...(vectors ? { embedder: vectors } : {}) });
  return { library, ranker, index: createSkillIndex(library) };
}

/** The word is that of the guard's own policy for external folders. */
const guardJudge: SkillJudge = {
  version: typeof TALARIA_VERSION === 'string' ? TALARIA_VERSION : 'source',
  judge: async (folder) => {
    const [{ guardDecision }, { scanSkillFolder }, { findingLine }] = await Promise.all([
      import('#mind/evidence/guard/finding.ts'),
      import('#mind/evidence/guard/scan-folder.ts'),
      import('#mind/evidence/guard/guard-words.ts'),
    ]);
    const report = scanSkillFolder(folder);
    return { word: guardDecision(report, 'external'), finding: findingLine(report) };
  },
};
