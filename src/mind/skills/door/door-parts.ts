// Owns what the skill door works with, and a checked change on its way to the disk: finding the folder, its lock, how broken I/O is told.
// Invariants: a door has one root (an agent's, a golem's, the library's) and never reaches for the global home; what is located is there on
// disk, also when the reader is a moment behind; what was done under a lock counts, also when the lock cannot be taken away afterwards.

import { isAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { withFileLock } from '#base/platform.ts';
import type { Ok, Refusal } from '#base/result.ts';
import type { ScanReport } from '#mind/evidence/guard/finding.ts';
import type { Actor, ProposalLedger } from '#mind/evidence/proposal.ts';
import type { Skill, SkillSource, SkillWritten, Verifier, WriteTrail } from '../skill.ts';
import { skillLock } from './place-skill.ts';
import type { SkillFile, SkillTree } from './skill-tree.ts';

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

/** A change that was found good. */
export interface Commit {
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
  readonly before: SkillTree | undefined;
  readonly after: SkillTree | undefined;
  readonly proposalId: string;
  readonly made: {
    readonly actor: Actor;
    readonly action: string;
    /** Where the skill or the change comes from, for the manifest. */
    readonly source: string;
    readonly trail?: WriteTrail;
    /** What a rollback undoes. */
    readonly undoes?: { readonly version: number; readonly backup: string };
  };
  /** Asked in this order once it is in place; a rollback has none. */
  readonly verifiers: readonly Verifier[];
  readonly warnings: readonly string[];
}

/** Throws TalariaError (`locked` after ten seconds), or the signal's reason while it waits. */
export async function withSkillLock<T extends Ok<SkillWritten> | Refusal>(
  { places, clock }: Pick<DoorParts, 'places' | 'clock'>,
  name: string,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  let done: T | undefined;
  const kept = async (): Promise<T> => {
    done = await work();
    return done;
  };
  try {
    return await withFileLock(skillLock(places.root, name), kept, { clock, ...(signal ? { signal } : {}) });
  } catch (error) {
    if (done !== undefined) return withWarning(done, `its lock stays until this process ends: ${errorText(error)}`);
    if (error instanceof TalariaError || isAborted(error) || signal?.aborted) throw error;
    throw asSkillFault(name, error, '; nothing was changed');
  }
}

export function withWarning<T extends Ok<SkillWritten> | Refusal>(done: T, warning: string): T {
  return done.ok ? { ...done, value: { ...done.value, warnings: [...done.value.warnings, warning] } } : done;
}

const FAULT_CODES: Readonly<Record<string, string>> = {
  ENOSPC: 'disk-full',
  EDQUOT: 'disk-full',
  EACCES: 'no-permission',
  EPERM: 'no-permission',
  EROFS: 'no-permission',
};

/** `what` says how things stand now. */
export function asSkillFault(name: string, error: unknown, what: string): TalariaError {
  const fix = error instanceof TalariaError ? error.fix : undefined;
  const code = error instanceof TalariaError ? error.code : (FAULT_CODES[errorCode(error) ?? ''] ?? 'write-failed');
  return new TalariaError(`cannot write the skill ${name}: ${errorText(error)}${what}`, {
    code,
    cause: error,
    ...(fix === undefined ? {} : { fix }),
  });
}
