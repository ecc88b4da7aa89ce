// Owns the Markdown form of a plan (curator notes 8.5). Pure. Invariant: one line for each candidate, every name on one line.
import { inlineText } from '../text/inline-text.ts';
import type { AutoRunPlan } from './describe-plan.ts';
import type { PlanEntry } from './planned-skill.ts';

/** What an apply adds to an entry. */
type AppliedEntry = PlanEntry & { readonly apply_result?: { readonly reason?: string | null } | null };

export function planMarkdown(
  plan: Omit<AutoRunPlan, 'candidates'> & { readonly candidates: readonly AppliedEntry[] },
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
    '',
    '## Candidates',
    ...(plan.candidates.length === 0 ? ['- No skill has enough evidence in this window.'] : plan.candidates.map(line)),
  ].join('\n')}\n`;
}

function line(entry: AppliedEntry): string {
  const { reason, apply_result: applied, selection } = entry;
  const notes = [
    ...(reason === null ? [] : [`reason ${reason}`]),
    ...(applied?.reason ? [`apply ${applied.reason}`] : []),
    `selected by ${selection.source}`,
    `score ${selection.score}`,
  ];
  return `- \`${inlineText(entry.skill_name).replaceAll('`', "'")}\`: ${entry.status} (${notes.join('; ')})`;
}
