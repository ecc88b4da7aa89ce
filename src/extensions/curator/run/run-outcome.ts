// Owns the shape of what one run did (curator notes 8.5, 11) and what it means for the caller. Pure.
// Invariant: an entry without `apply_result` was never tried; the counts are those of the entries.
import type { Result } from '#base/result.ts';
import type { VerifyReport } from '#mind/skills/door/verify/verifier.ts';
import { type AutoRunPlan, summaryOf } from '../plan/describe-plan.ts';
import type { PlanEntry } from '../plan/planned-skill.ts';
import type { RunSettings } from './run-settings.ts';

export interface ApplyResult {
  readonly applied: boolean;
  /** `applied`, or the gate that refused. */
  readonly reason: string;
  /** One sentence: what was refused and what would mend it. */
  readonly detail?: string;
  readonly target_path?: string;
  readonly backup_path?: string;
  readonly manifest_path?: string;
  /** Where an edit lies that somebody made while the change was checked. */
  readonly archive_path?: string;
  readonly new_sha256?: string | null;
  readonly current_sha256?: string | null;
  readonly expected_sha256?: string;
  readonly verify?: VerifyReport;
  readonly drill_state_path?: string;
  /** Reference files that went with this version. */
  readonly pruned_files?: readonly string[];
  /** What the guard let through, and what is not as it should be though the version stands. */
  readonly warnings?: readonly string[];
}

export type AppliedEntry = PlanEntry & { readonly apply_result?: ApplyResult | null };

export type AutoRun = Omit<AutoRunPlan, 'candidates'> & {
  readonly candidates: readonly AppliedEntry[];
  /** Ours: what a person should know of the run as a whole; absent when there is nothing. */
  readonly notes?: readonly string[];
};

/** Refused: another unattended writer of this home is at work, nothing was looked at. */
export type AutoRunResult = Result<AutoRun, 'lease-held' | 'home-newer'>;

export function withOutcomes(plan: AutoRunPlan, outcomes: ReadonlyMap<string, AppliedEntry>): AutoRun {
  const candidates = plan.candidates.map((entry): AppliedEntry => outcomes.get(entry.skill_name) ?? untried(entry));
  return { ...plan, summary: summaryOf(candidates), candidates };
}

function untried(entry: PlanEntry): AppliedEntry {
  return entry.variants === undefined ? entry : { ...entry, apply_result: null };
}

/** Refusals of the door that speak against the skill or the text, not against the moment: the entry is skipped. */
export const GATES: ReadonlySet<string> = new Set([
  'guard-refused',
  'guard-asks',
  'secret',
  'read-only',
  'pinned-skill',
  'source-not-agent-created',
  'skill-content-hard-cap',
  'managed-block-unchanged',
  'invalid-skill',
  'invalid-name',
  'description-too-long',
  'outside-folder',
]);

/** Refusals of the moment: the entry stays planned, the next run may write it. */
const MOMENTS: ReadonlySet<string> = new Set([
  'auto-approval-required',
  'approval-required',
  'hash-mismatch',
  'target-not-found',
]);

/** Nothing stood in the way: there is no such skill any more, it says all of it already, or nothing failed. */
const NOTHING_TO_DO: ReadonlySet<string> = new Set(['skill-file-not-found', 'managed-block-unchanged', 'no-failures']);

/** 0: done; 1: something that was tried failed; 3: a gate kept everything back that was to be written. A folder elsewhere is only planned for. */
export function autoRunExit(
  { mode, summary, candidates }: AutoRun,
  { isLocal, writes }: Pick<RunSettings, 'isLocal' | 'writes'> = { isLocal: true, writes: false },
): 0 | 1 | 3 {
  const refused = candidates.flatMap(({ apply_result: result }) => (result && !result.applied ? [result.reason] : []));
  if (refused.some((reason) => !GATES.has(reason) && !MOMENTS.has(reason))) return 1;
  if (mode === 'dry-run' || summary.applied > 0) return 0;
  const isHeldBack = candidates.some(({ reason }) => reason === 'restore-drill-required');
  if (isHeldBack || refused.length > 0) return 3;
  return isLocal && writes && areKeptBack(candidates) ? 3 : 0;
}

/** Each skill that there is; one that is up to date is not. */
function areKeptBack(candidates: readonly AppliedEntry[]): boolean {
  const kept = candidates.filter(({ status, reason }) => status === 'skipped' && !NOTHING_TO_DO.has(reason ?? ''));
  const there = candidates.filter(({ reason }) => reason !== 'skill-file-not-found');
  return kept.length > 0 && kept.length === there.length;
}
