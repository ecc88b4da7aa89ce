// Owns the Markdown form of a plan (curator notes 8.5). Pure. Invariant: one line for each candidate, with what was found
// wrong below it, every name on one line; skills that are gone are counted rather than listed.

import { cutPoints } from '#base/text/code-points.ts';
import type { VerifyReport } from '#mind/skills/door/verify/verifier.ts';
import { inlineText } from '../text/inline-text.ts';
import type { AutoRunPlan } from './describe-plan.ts';
import type { PlanEntry } from './planned-skill.ts';

/** What an apply adds to an entry. */
type AppliedEntry = PlanEntry & {
  readonly apply_result?: (TriedResult & { readonly archive_path?: string }) | null;
};

export function planMarkdown(
  plan: Omit<AutoRunPlan, 'candidates'> & {
    readonly candidates: readonly AppliedEntry[];
    readonly notes?: readonly string[];
  },
): string {
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
    ...(applied?.reason ? [`apply ${applied.reason}`] : []),
    ...(applied?.archive_path ? [`edited meanwhile, kept in ${inlineText(applied.archive_path)}`] : []),
    `selected by ${selection.source}`,
    `score ${selection.score}`,
  ];
  return `- \`${inlineText(entry.skill_name).replaceAll('`', "'")}\`: ${entry.status} (${notes.join('; ')})`;
}

interface TriedResult {
  readonly reason?: string | null;
  readonly verify?: VerifyReport;
  readonly warnings?: readonly string[];
}

const LONGEST = 300;
const LAST_LINES = 3;
const MOST_WARNINGS = 5;

function entryDetails(tried: TriedResult | null | undefined): readonly string[] {
  if (!tried) return [];
  const warnings = tried.warnings ?? [];
  const rest = warnings.length - MOST_WARNINGS;
  return [
    ...(tried.verify?.passed === false ? [failedStage(tried.verify)] : []),
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
