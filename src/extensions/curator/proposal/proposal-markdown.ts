// Owns the Markdown form of a proposal (curator notes 13). Pure. Invariant: what a model wrote stands as a quotation, so that none of it
// looks like ours.
import { inlineText } from '../text/inline-text.ts';
import type { ModelDraft, Proposal } from '../verify/proposal.ts';

export function proposalMarkdown(proposal: Proposal): string {
  const { evidence_summary: counts, skill_name, grounding_event_count, proposed_actions, model_draft } = proposal;
  return `${[
    `# Proposal for ${inlineText(skill_name)}`,
    '',
    'Dry run: nothing is applied, and applying needs approval.',
    '',
    '## Evidence',
    `- Grounding events: ${grounding_event_count}`,
    `- Tool events: ${counts.tool_events}`,
    `- Skill-related events: ${counts.skill_events}`,
    `- Error-like events: ${counts.error_events}`,
    `- Turn events: ${counts.turn_events}`,
    `- Session-end events: ${counts.session_events}`,
    '',
    '## Proposed actions',
    ...proposed_actions.map(({ kind, description, evidence }) => `- ${kind}: ${description} (${evidence})`),
    ...(model_draft === undefined ? [] : draftLines(model_draft)),
    '',
    '## Next',
    '- Check it: `talaria curator verify --proposal-file FILE`, with FILE written by `--format json --output FILE`.',
  ].join('\n')}\n`;
}

function draftLines(draft: ModelDraft): readonly string[] {
  if (!draft.executed) return ['', '## Model draft', '', `Not made: ${inlineText(draft.error)}`];
  const quoted = draft.text.split('\n').map((line) => `> ${line}`.trimEnd());
  return ['', '## Model draft', '', 'Written by a model, for review only:', '', ...quoted];
}
