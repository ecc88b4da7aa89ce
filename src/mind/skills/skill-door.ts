// Owns the contract of the one door through which skill text is written (design 2). The owner's tool call, the review, the curator and
// a dream all pass it, with the same guard, provenance and undo. Knows no caller. Implementation: guarded-apply.ts.

import type { Refusal, Result } from '#base/result.ts';
import type { Judge } from '#mind/evidence/judge/judge.ts';
import type { Actor } from '#mind/evidence/proposal.ts';
import type { Citation } from '#mind/evidence/trace-guard/claim.ts';
import type { Verifier, VerifyReport } from './door/verify/verifier.ts';

export type SkillChange =
  | { readonly action: 'create'; readonly content: string; readonly category?: string }
  | {
      readonly action: 'patch';
      readonly oldString: string;
      readonly newString: string;
      readonly replaceAll?: boolean;
      readonly filePath?: string;
    }
  /** `files`: support files that change with it, in one version; null takes one away. */
  | { readonly action: 'edit'; readonly content: string; readonly files?: readonly SkillFileEdit[] }
  | { readonly action: 'delete'; readonly absorbedInto?: string }
  | { readonly action: 'write_file'; readonly filePath: string; readonly content: string }
  | { readonly action: 'remove_file'; readonly filePath: string };

export interface SkillFileEdit {
  /** Below the skill's folder: `references/notes.md`. */
  readonly path: string;
  readonly content: string | null;
}

export interface SkillWrite {
  readonly name: string;
  readonly change: SkillChange;
  readonly actor: Actor;
  /** False: nothing is written, the refusal is `approval-required`. */
  readonly approved: boolean;
  /** SHA-256 hex of SKILL.md that the change was made for. Required of every unattended actor. */
  readonly expectedHash?: string;
  readonly sessionId?: string;
  readonly citations?: readonly Citation[];
  /** A proposal that was opened before (gate, pending); else the door opens one. */
  readonly proposalId?: string;
  /** Asked after the door's own, in this order; the first that fails takes the change back. */
  readonly verifiers?: readonly Verifier[];
  /** What the manifest keeps beside the change (curator notes 11.2). */
  readonly trail?: WriteTrail;
}

export interface WriteTrail {
  /** Source word of the provenance, e.g. `local-agent-created`; default: the actor. */
  readonly source?: string;
  /** The database that the change rests on; default: state.db. */
  readonly evidencePath?: string;
  /** Installed units that run the writer: `service_path`, `timer_path`, `plist_path`. */
  readonly scheduler?: Readonly<Record<string, string>>;
}

export interface SkillWritten {
  readonly name: string;
  readonly folder: string;
  readonly path: string;
  /** Number of the version that stands now. */
  readonly version: number;
  readonly newHash: string | null;
  readonly manifestPath: string;
  readonly proposalId: string;
  /** What the verifiers said; absent: none was asked. */
  readonly verify?: VerifyReport;
  /** What the guard found and the policy let through. */
  readonly warnings: readonly string[];
}

export type SkillRefusalReason =
  | 'approval-required'
  | 'target-not-found'
  | 'hash-mismatch'
  | 'name-taken'
  | 'invalid-name'
  | 'invalid-skill'
  | 'description-too-long'
  | 'too-large'
  | 'outside-folder'
  | 'read-only'
  | 'text-not-found'
  | 'text-ambiguous'
  | 'unchanged'
  | 'secret'
  | 'guard-refused'
  | 'guard-asks'
  | 'verify-failed'
  | 'not-agent-made';

export interface SkillRefusal extends Refusal<SkillRefusalReason> {
  readonly proposalId?: string;
  /** With `verify-failed`: the manifest that says so. */
  readonly manifestPath?: string;
  readonly verify?: VerifyReport;
  /** With `verify-failed`: absolute folder of what somebody made of the skill while it was checked. */
  readonly archivePath?: string;
}

export interface SkillVersion {
  readonly skill: string;
  readonly version: number;
  readonly parent?: number;
  readonly actor: Actor;
  readonly action: string;
  readonly originalHash: string | null;
  readonly newHash: string | null;
  readonly manifestPath: string;
  readonly proposalId: string;
  /** Epoch ms. */
  readonly at: number;
  readonly rolledBackAt?: number;
}

/**
 * Contract. Wholly old or wholly new after any fault; a refused or failed write leaves a decided proposal row and no other trace.
 * Throws TalariaError only for broken I/O, with the old state intact.
 */
export interface SkillDoor {
  write(
    request: SkillWrite,
    signal?: AbortSignal,
  ): Promise<{ readonly ok: true; readonly value: SkillWritten } | SkillRefusal>;
  /** Puts a folder from outside (installed, imported) in place, whole or not at all. */
  install(
    request: {
      readonly from: string;
      readonly name?: string;
      readonly category?: string;
      readonly source: 'trusted' | 'community' | 'import';
      readonly approved: boolean;
      readonly force?: boolean;
      /** Asked about what strangers made; it can only make the guard stricter. */
      readonly judge?: Judge;
    },
    signal?: AbortSignal,
  ): Promise<{ readonly ok: true; readonly value: SkillWritten } | SkillRefusal>;
  /** Undoes a version: support files included. `force` goes over a file that was edited since. */
  rollback(
    target: { readonly skill: string; readonly version?: number } | { readonly manifestPath: string },
    options?: { readonly force?: boolean; readonly actor?: Actor },
  ): Promise<
    Result<
      SkillWritten,
      'backup-not-found' | 'manifest-changed' | 'target-changed' | 'nothing-to-undo' | 'no-such-version'
    >
  >;
  versions(skill: string): readonly SkillVersion[];
}
