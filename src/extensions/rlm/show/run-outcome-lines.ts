// Owns what a person reads of a scaffold run's outcome: claims with their sources, what was refused and why, what was not read, the repair.
// Pure. Invariant: nothing is called verified; a refused claim is never shown without its reason, nor a gap left out.

import { placeText } from '../run/place-text.ts';
import type { FreshFact, RunOutcome } from '../run/run-outcome.ts';
import { block, gapLines, oneLine } from './lines.ts';

export function runOutcomeLines(outcome: RunOutcome): readonly string[] {
  const { claims, evidence, refused, refused_facts, summary } = outcome;
  const accepted = outcome.verdict === 'accepted';
  const cited = new Set(claims.flatMap(({ fact_ids }) => fact_ids));
  const sources = accepted ? evidence.filter(({ fact_id }) => cited.has(fact_id)) : evidence;
  const rest = accepted ? evidence.filter(({ fact_id }) => !cited.has(fact_id)) : [];
  return [
    ...block(
      'Cited:',
      claims.map(({ text, fact_ids }) => `${oneLine(text)} [${fact_ids.join(', ')}]`),
    ),
    ...block(accepted ? 'Sources:' : 'Evidence of the children, word for word:', sources.map(factLine)),
    ...block('Evidence that no claim uses:', rest.map(factLine), 10),
    ...block('Summary in the model’s own words, not checked:', summary === null ? [] : [oneLine(summary, 600)]),
    ...block(
      'Refused:',
      refused.map(({ reason, claim, detail }) =>
        oneLine(`${reason}: ${claim.text === '' ? '' : `"${claim.text}" `}${detail}`),
      ),
    ),
    ...block(
      'Quotations that their chunk does not hold:',
      refused_facts.map(({ reason, text, call_id }) => oneLine(`${reason}: "${text}" (${call_id})`)),
      20,
    ),
    ...repairLines(outcome.repair),
    ...block('Gaps:', gapLines(outcome.gaps)),
    ...block('Not read:', omittedLines(outcome)),
  ];
}

function factLine({ fact_id, chunk_id, text, place }: FreshFact): string {
  return `[${fact_id}] ${place === null ? chunk_id : placeText(place)} "${oneLine(text)}"`;
}

function repairLines(repair: RunOutcome['repair']): readonly string[] {
  if (repair === null || !repair.repair_attempted) return [];
  const ended = repair.repair_accept === true ? 'accepted' : `refused (${repair.repair_failure_reason ?? 'no reason'})`;
  const changes = repair.before_after_diff.map(({ path, before, after }) => `${path}: ${before} → ${after}`);
  return block(`Repair: missing handles were filled in from the evidence, then ${ended}:`, changes, 20);
}

function omittedLines({ omitted, boundaries }: RunOutcome): readonly string[] {
  const stretches = omitted.map(({ chunk_id, reason }) => `${chunk_id} (${reason})`);
  const ends = boundaries.map(
    ({ source_path, last_retained_line, omitted_line_count }) =>
      `${source_path}: read up to line ${last_retained_line}, ${omitted_line_count} lines not`,
  );
  return [...ends, ...stretches];
}
