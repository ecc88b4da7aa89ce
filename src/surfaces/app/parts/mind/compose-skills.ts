// Owns composing skills for one home: the library that reads them, the door that writes them, records, ranking, the prompt's index.
// Knows no conversation. Invariant: one door for the home, whoever writes.
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { Embedder } from '#core/model/embedder.ts';
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import { guardDecision } from '#mind/skills/guard/guard-policy.ts';
import { scanSkillFiles } from '#mind/skills/guard/scan-files.ts';
import { createSkillDoor, type GuardedSkillDoor } from '#mind/skills/guarded-apply.ts';
import { skillsCacheName } from '#mind/skills/library/cache-tables.ts';
import { createSkillLibrary, type SkillLibrary } from '#mind/skills/library/skill-library.ts';
import { createSkillRanker, type SkillRanker } from '#mind/skills/offer/rank-skills.ts';
import { createSkillIndex, type SkillIndex } from '#mind/skills/offer/skill-index.ts';
import { createSkillRecords, type SkillRecords } from '#mind/skills/record/skill-records.ts';
import type { Home } from '../../home/home.ts';

export interface ComposedSkills {
  readonly library: SkillLibrary;
  readonly door: GuardedSkillDoor;
  readonly records: SkillRecords;
  readonly ranker: SkillRanker;
  readonly index: SkillIndex;
}

export interface SkillGround {
  readonly home: Home;
  readonly clock: Clock;
  /** state.db. */
  readonly database: Database;
  readonly ledger: ProposalLedger;
  /** Absolute folders that are read only. */
  readonly external: readonly string[];
  readonly embedder?: Embedder;
  readonly notice: (text: string) => void;
}

export function composeSkills(ground: SkillGround): ComposedSkills {
  const { home, clock, database, ledger, external, embedder, notice } = ground;
  const records = createSkillRecords({ database, root: home.skills, clock });
  const library = createSkillLibrary({
    root: home.skills,
    external,
    cacheFile: join(home.cache, skillsCacheName),
    records: records.get,
    warn: notice,
    clock,
  });
  const door = createSkillDoor({
    places: { root: home.skills, backups: home.skillBackups },
    database,
    ledger,
    locate: (name) => library.get(name),
    guard: { scan: (files) => scanSkillFiles(files), decide: guardDecision },
    clock,
  });
  const ranker = createSkillRanker({ library, clock, warn: notice, ...(embedder ? { embedder } : {}) });
  return { library, door, records, ranker, index: createSkillIndex(library) };
}
