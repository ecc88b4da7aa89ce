// Owns the Markdown form of mined and listed candidates (curator notes 7). Pure. Invariant: every text of the evidence stands on one line.
import { inlineText } from '../text/inline-text.ts';
import type { Candidate } from './candidate.ts';

export interface CandidateItem extends Candidate {
  /** Of a listing. */
  readonly status?: string;
  /** Of a mining: false for one that waited already. */
  readonly enqueued?: boolean;
}

export interface CandidateList {
  readonly title: string;
  /** Figures in the order in which they are shown. */
  readonly counts: readonly (readonly [label: string, count: number])[];
  readonly candidates: readonly CandidateItem[];
  /** What can be typed now. */
  readonly next?: string;
}

export function candidatesMarkdown({ title, counts, candidates, next }: CandidateList): string {
  return `${[
    `# ${title}`,
    '',
    'Review only: nothing here was applied, and nothing is applied without a person.',
    '',
    ...counts.map(([label, count]) => `- ${label}: ${count}`),
    ...candidates.flatMap(section),
    ...(next === undefined || candidates.length === 0 ? [] : ['', next]),
  ].join('\n')}\n`;
}

function section(item: CandidateItem): readonly string[] {
  const refs = item.evidence_refs.map((ref) => `\`${inlineText(ref).replaceAll('`', "'")}\``).join(', ');
  return [
    '',
    `## ${inlineText(item.title)}`,
    `- Id: \`${item.id}\``,
    `- Type: ${item.candidate_type}`,
    ...(item.status === undefined ? [] : [`- Status: ${item.status}`]),
    ...(item.enqueued === undefined ? [] : [`- New: ${item.enqueued ? 'yes' : 'no'}`]),
    `- Confidence: ${item.confidence}`,
    `- Target skill: ${item.target_skill === null ? '-' : inlineText(item.target_skill)}`,
    `- Evidence: ${refs === '' ? '-' : refs}`,
    `- Rationale: ${inlineText(item.rationale)}`,
  ];
}
