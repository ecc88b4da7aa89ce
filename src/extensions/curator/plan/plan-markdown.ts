// Owns the Markdown form of a plan (curator notes 8.5). Pure. Invariant: one line for each candidate, with what was found
// wrong below it, every name on one line; skills that are gone are counted rather than listed.
import { inlineText } from '../text/inline-text.ts';
import type { AutoRunPlan } from './describe-plan.ts';
import { entryDetails, type TriedResult } from './entry-details.ts';
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
