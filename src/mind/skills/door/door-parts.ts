// Owns what the skill door works with. Knows none of it. Invariant: a door has one root (an agent's, a golem's, the library's) and
// never reaches for the global home.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { ScanReport } from '#mind/evidence/guard/finding.ts';
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import type { Skill, SkillSource } from '../skill.ts';
import type { SkillFile } from './skill-tree.ts';
import type { Verifier } from './verify/verifier.ts';

export interface SkillPlaces {
  /** Absolute skills folder: `<home>/skills`. */
  readonly root: string;
  /** Absolute folder of the backups: `<home>/backups/skills`. */
  readonly backups: string;
}

export type LocatedSkill = Pick<Skill, 'folder' | 'source' | 'writable'>;

/** What the guard says of all files of a skill, and what follows from it for a source. */
export interface SkillGuard {
  scan(files: readonly SkillFile[]): ScanReport | Promise<ScanReport>;
  decide(report: ScanReport, source: SkillSource): 'allow' | 'ask' | 'refuse';
}

export interface DoorParts {
  readonly places: SkillPlaces;
  /** state.db, opened with `skillSchema` among its rooms. */
  readonly database: Database;
  readonly ledger: ProposalLedger;
  /** Finds a skill by its name as it stands on disk now. */
  readonly locate: (name: string) => LocatedSkill | undefined | Promise<LocatedSkill | undefined>;
  readonly guard: SkillGuard;
  /** All must pass, in this order. */
  readonly verifiers: readonly Verifier[];
  readonly clock: Clock;
}
