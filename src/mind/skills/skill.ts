// Owns what a skill is to every reader, and the contract of the one door through which skill text is written (design 2): the owner's tool
// call, the review, the curator and a dream all pass it, with the same guard, provenance and undo. Shapes only; the door: guarded-apply.ts.
// Invariant: plain readonly data; `skills`, the curator, the fleet and every surface read skills through `SkillReader`.
import type { Ok, Refusal, Result } from '#base/result.ts';
import type { Judge } from '#mind/evidence/judge.ts';
import type { Actor } from '#mind/evidence/proposal.ts';
import type { Citation } from '#mind/evidence/trace-guard/claim.ts';

/** Where a skill comes from; decides what the guard lets through. */
export type SkillSource = 'builtin' | 'trusted' | 'community' | 'agent' | 'owner' | 'external';

export type SkillStatus = 'draft' | 'active' | 'flagged' | 'retired';

export interface SkillHeader {
  /** `^[a-z0-9][a-z0-9._-]*$`, at most 64 characters when written by us; as found otherwise. */
  readonly name: string;
  readonly description: string;
  /** Path below the skills folder without the skill's own, e.g. `data`; empty when there is none. */
  readonly category: string;
  readonly tags: readonly string[];
  readonly whenToUse: string;
  readonly version: string;
  /** Restrictions; empty: none. */
  readonly platforms: readonly string[];
  readonly requiresTools: readonly string[];
  readonly requiresToolsets: readonly string[];
  readonly fallbackForTools: readonly string[];
  readonly fallbackForToolsets: readonly string[];
  readonly environmentVariables: readonly string[];
}

export interface Skill extends SkillHeader {
  /** Absolute folder. */
  readonly folder: string;
  readonly source: SkillSource;
  /** False for external directories and for what was installed read-only. */
  readonly writable: boolean;
  /** SHA-256 hex of SKILL.md as it stands. */
  readonly hash: string;
  readonly body: string;
  /** Whole SKILL.md. */
  readonly text: string;
}

/** The record beside a skill (hierarchy notes D2): one store for the agent, the curator and the fleet. */
export interface SkillRecord {
  readonly name: string;
  /** Who made it: `agent` is the licence that unattended writers need. */
  readonly createdBy: 'agent' | 'owner' | 'import' | 'install';
  readonly status: SkillStatus;
  readonly pinned: boolean;
  /** 0 to 1: (priorConfidence × priorWeight + successes) / (priorWeight + successes + failures) after a use. */
  readonly confidence: number;
  /** What it was believed to be worth before its first use here, 0 to 1, and as many uses as that counts. */
  readonly priorConfidence: number;
  readonly priorWeight: number;
  readonly validatedCount: number;
  readonly improvedCount: number;
  readonly viewCount: number;
  readonly useCount: number;
  readonly successCount: number;
  readonly failureCount: number;
  /** -0.5 to 0.5: what the fleet says it contributed. */
  readonly attribution: number;
  readonly bloodstain: boolean;
  /** Ids of the golems it passed through, oldest first. */
  readonly lineage: readonly string[];
  /** Kinds of situation that it is for. */
  readonly categories: readonly string[];
  /** Name of the skill or entry that it was made from. */
  readonly derivedFrom?: string | undefined;
  readonly version: number;
  readonly parentVersion?: number | undefined;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastUsedAt?: number | undefined;
}

export interface SkillReader {
  /** Every skill that can be read, local ones first; of two with one name the local one, then the first by path. */
  list(): readonly Skill[];
  get(name: string): Skill | undefined;
  /** Absent for a skill without a record: it is the owner's. */
  record(name: string): SkillRecord | undefined;
  /** A file of the skill's folder as text. Never leaves the folder, also not by a link. */
  file(name: string, path: string): Result<string, 'no-such-skill' | 'no-such-file' | 'outside-folder' | 'not-text'>;
}

export interface VerifierRequest {
  /** Absolute folder of the skill as it stands now. */
  readonly path: string;
  /** SKILL.md before and after; null: there was or is none. */
  readonly before: string | null;
  readonly after: string | null;
  /** Absolute, of the backup that the change would be undone from; null: there was nothing before. */
  readonly backupPath: string | null;
  readonly manifestPath: string;
  /** SHA-256 hex of SKILL.md before and after. */
  readonly originalHash: string | null;
  readonly newHash: string | null;
}

export interface VerifierResult {
  readonly passed: boolean;
  /** What was found; at most the last 4,000 characters are kept. */
  readonly detail: string;
  /** Of the command that was run; default 0 or 1. */
  readonly exitCode?: number;
}

/** What all verifiers of one write said, as the manifest keeps it (curator notes 11.3). A type, so that it counts as JSON. */
export type VerifyReport = {
  readonly enabled: boolean;
  /** null: not asked yet. */
  readonly passed: boolean | null;
  readonly exit_code: number;
  /** Of the stage that failed, else of the last one. */
  readonly output: string;
  readonly staged?: boolean;
  readonly stages?: readonly {
    readonly name: string;
    readonly passed: boolean;
    readonly exit_code: number;
    readonly output: string;
  }[];
  readonly failed_stage?: string;
};

/**
 * Contract: writes nothing below the skill's folder (a write after which it is not what was put in place is taken back), ends by itself,
 * throws only for bugs (the write is then taken back).
 */
export interface Verifier {
  readonly name: string;
  verify(request: VerifierRequest): Promise<VerifierResult>;
}

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

/** Of a write or an installation. */
export type SkillOutcome = Ok<SkillWritten> | SkillRefusal;

export interface SkillRefusal extends Refusal<SkillRefusalReason> {
  readonly proposalId?: string;
  /** With `verify-failed`: the manifest that says so. */
  readonly manifestPath?: string;
  readonly verify?: VerifyReport;
  /** With `verify-failed`: absolute folder of what somebody made of the skill while it was checked. */
  readonly archivePath?: string;
}

export type RollbackReason =
  | 'backup-not-found'
  | 'manifest-changed'
  | 'target-changed'
  | 'nothing-to-undo'
  | 'no-such-version';

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
  write(request: SkillWrite, signal?: AbortSignal): Promise<SkillOutcome>;
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
  ): Promise<SkillOutcome>;
  /** Undoes a version: support files included. `force` goes over a file that was edited since. */
  rollback(
    target: { readonly skill: string; readonly version?: number } | { readonly manifestPath: string },
    options?: { readonly force?: boolean; readonly actor?: Actor },
  ): Promise<Result<SkillWritten, RollbackReason>>;
  versions(skill: string): readonly SkillVersion[];
}
