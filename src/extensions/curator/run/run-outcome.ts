// Owns the shape of what one run did, what it means for the caller, and its page (curator notes 8.5, 11).
import { cutPoints } from '#base/text/code-points.ts';
import type { VerifyReport } from '#mind/skills/skill.ts';
import { inlineCode, inlineText } from '../text.ts';
import { type AutoRunPlan, type PlanEntry, summaryOf } from './plan-entry.ts';
import type { RunSettings } from './run-flags.ts';

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

export function withOutcomes(plan: AutoRunPlan, outcomes: ReadonlyMap<string, AppliedEntry>): AutoRun {
  const candidates = plan.candidates.map((entry): AppliedEntry => {
    const untried = entry.variants === undefined ? entry : { ...entry, apply_result: null };
    return outcomes.get(entry.skill_name) ?? untried;
  });
  return { ...plan, summary: summaryOf(candidates), candidates };
}

/** Refusals of the door that speak against the skill or the text, not against the moment: the entry is skipped. */
export const GATES: ReadonlySet<string> = new Set([
  ...['guard-refused', 'guard-asks', 'secret', 'read-only', 'pinned-skill', 'source-not-agent-created'],
  ...['skill-content-hard-cap', 'managed-block-unchanged', 'invalid-skill', 'invalid-name'],
  ...['description-too-long', 'outside-folder'],
]);

/** Refusals of the moment: the entry stays planned, the next run may write it. */
const MOMENTS: ReadonlySet<string> = new Set([
  ...['auto-approval-required', 'approval-required', 'hash-mismatch', 'target-not-found'],
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
  // Each skill that there is; one that is up to date is not.
  const kept = candidates.filter(({ status, reason }) => status === 'skipped' && !NOTHING_TO_DO.has(reason ?? ''));
  const there = candidates.filter(({ reason }) => reason !== 'skill-file-not-found');
  return isLocal && writes && kept.length > 0 && kept.length === there.length ? 3 : 0;
}

export function planMarkdown(plan: AutoRun): string {
  const { planned, applied, skipped } = plan.summary;
  return `${[
    '# Curator auto-run',
    '',
    `- Mode: ${plan.mode}`,
    `- Planned: ${planned}`,
    `- Applied: ${applied}`,
    `- Skipped: ${skipped}`,
    `- Selection: ${plan.selection.mode}${plan.selection.fallback === undefined ? '' : ` (fallback: ${plan.selection.fallback})`}`,
    `- Restore drill: ${plan.safety.restore_drill_gate.reason}`,
    ...(plan.notes ?? []).map((note) => `- Note: ${inlineText(note)}`),
    '',
    '## Candidates',
    ...candidateLines(plan.candidates),
  ].join('\n')}\n`;
}

const MOST_MISSING = 10;

function candidateLines(entries: readonly AppliedEntry[]): readonly string[] {
  if (entries.length === 0) return ['- No skill has enough evidence in this window.'];
  const missing = entries.filter(({ reason }) => reason === 'skill-file-not-found');
  const unlisted = new Set(missing.slice(MOST_MISSING));
  const shown = entries.filter((entry) => !unlisted.has(entry));
  return [
    ...shown.flatMap((entry) => [line(entry), ...entryDetails(entry.apply_result)]),
    ...(unlisted.size === 0 ? [] : [`- and ${unlisted.size} more: skipped (reason skill-file-not-found)`]),
  ];
}

function line(entry: AppliedEntry): string {
  const { reason, apply_result: applied, selection } = entry;
  const notes = [
    ...(reason === null ? [] : [`reason ${reason}`]),
    ...(applied ? [`apply ${applied.reason}`] : []),
    ...(applied?.archive_path ? [`edited meanwhile, kept in ${inlineText(applied.archive_path)}`] : []),
    `selected by ${selection.source}`,
    `score ${selection.score}`,
  ];
  return `- ${inlineCode(entry.skill_name)}: ${entry.status} (${notes.join('; ')})`;
}

const LONGEST = 300;
const LAST_LINES = 3;
const MOST_WARNINGS = 5;

function entryDetails(tried: ApplyResult | null | undefined): readonly string[] {
  if (!tried) return [];
  const { verify, warnings = [] } = tried;
  const rest = warnings.length - MOST_WARNINGS;
  return [
    ...(verify?.passed === false ? [failedStage(verify)] : []),
    ...warnings.slice(0, MOST_WARNINGS).map((warning) => `warning: ${oneLine(warning)}`),
    ...(rest > 0 ? [`and ${rest} more warnings`] : []),
  ].map((text) => `  - ${text}`);
}

function failedStage({ failed_stage: stage = 'verification', exit_code: code, output }: VerifyReport): string {
  const lines = output.split(/\r?\n/).filter((line) => line.trim() !== '');
  const last = oneLine(lastPoints(lines.slice(-LAST_LINES).join(' | ')));
  return `${oneLine(stage)} failed with exit code ${code}${last === '' ? ', without output' : `: ${last}`}`;
}

/** The end says more than the beginning. */
function lastPoints(text: string): string {
  const points = [...text.slice(-2 * LONGEST)];
  return points.length <= LONGEST ? points.join('') : `…${points.slice(1 - LONGEST).join('')}`;
}

function oneLine(text: string): string {
  return cutPoints(inlineText(text).replaceAll('`', "'").trim(), LONGEST);
}
