// Owns composing skills for one home: the library that reads them, the door that writes them, records, the prompt's index.
// Knows no conversation. Invariants: one door for the home, whoever writes; neither library nor door is loaded before it is needed.
import { allVersions, asSkillVersion } from '#mind/skills/door/history/version-rows.ts';
import type { GuardedSkillDoor } from '#mind/skills/guarded-apply.ts';
import type { OpenLibrary } from '#mind/skills/library/skill-library.ts';
import type { SkillRanker } from '#mind/skills/offer/rank-skills.ts';
import type { SkillIndex } from '#mind/skills/offer/skill-index.ts';
import { createSkillRecords, type SkillRecords } from '#mind/skills/record/skill-records.ts';
import type { SkillDoor } from '#mind/skills/skill-door.ts';
import { createLazyReading } from './lazy-library.ts';
import type { SkillGround } from './skill-ground.ts';

/** The door, and what of it is more than a tool or a review may do. */
export type HomeSkillDoor = Pick<GuardedSkillDoor, keyof SkillDoor | 'diff' | 'reconcile'>;

export interface ComposedSkills {
  readonly library: OpenLibrary;
  readonly door: HomeSkillDoor;
  readonly records: SkillRecords;
  readonly index: SkillIndex;
  /** Undefined: there is no skill that could be ranked. */
  readonly ranker: () => SkillRanker | undefined;
}

export function composeSkills(ground: SkillGround): ComposedSkills {
  const { home, clock, database, external } = ground;
  const records = createSkillRecords({ database, root: home.skills, clock });
  const { library, index, loaded } = createLazyReading({ root: home.skills, external, records }, async () => {
    const { composeSkillReading } = await import('./skill-reading.ts');
    return composeSkillReading(ground, records);
  });
  return { library, door: lazyDoor(ground, library), records, index, ranker: () => loaded()?.ranker };
}

function lazyDoor(ground: SkillGround, library: OpenLibrary): HomeSkillDoor {
  let door: Promise<GuardedSkillDoor> | undefined;
  const locate = async (name: string) => {
    await library.ready();
    return library.get(name);
  };
  const load = () => {
    door ??= import('./skill-writing.ts').then(({ composeSkillDoor }) => composeSkillDoor(ground, locate));
    return door;
  };
  const { database, home } = ground;
  return {
    write: async (...asked) => (await load()).write(...asked),
    install: async (...asked) => (await load()).install(...asked),
    rollback: async (...asked) => (await load()).rollback(...asked),
    versions: (skill) => allVersions(database, skill).map((row) => asSkillVersion(row, home.skillBackups)),
    reconcile: async () => (await load()).reconcile(),
    diff: async (...asked) => (await load()).diff(...asked),
  };
}
