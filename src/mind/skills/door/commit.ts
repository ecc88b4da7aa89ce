// Owns the data of one checked change on its way to the disk. Knows nothing of how it gets there.
import type { Actor } from '#mind/evidence/proposal.ts';
import type { SkillRefusal, SkillWritten, WriteTrail } from '../skill-door.ts';
import type { SkillTree } from './skill-tree.ts';
import type { Verifier } from './verify/verifier.ts';

/** A change that was found good. */
export interface Commit {
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
  readonly before: SkillTree | undefined;
  readonly after: SkillTree | undefined;
  readonly proposalId: string;
  readonly made: MadeBy;
  /** Asked in this order once it is in place; a rollback has none. */
  readonly verifiers: readonly Verifier[];
  readonly warnings: readonly string[];
}

export interface MadeBy {
  readonly actor: Actor;
  readonly action: string;
  /** Where the skill or the change comes from, for the manifest. */
  readonly source: string;
  readonly trail?: WriteTrail;
  /** What a rollback undoes. */
  readonly undoes?: { readonly version: number; readonly backup: string };
}

export type Committed = { readonly ok: true; readonly value: SkillWritten } | SkillRefusal;
