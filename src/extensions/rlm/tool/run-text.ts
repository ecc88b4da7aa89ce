// Owns what a model reads of a scaffold run: accepted claims with the quotations that carry them; when the synthesis was refused, the
// quotations alone, with why. Pure. Invariant: nothing of a refused synthesis and no summary is shown as said by the material.
import type { FreshFact, RunOutcome } from '../run/run-outcome.ts';
import { block, citedLine, gapLines, oneLine, placeText, quoted } from './cited-lines.ts';

export function runText(outcome: RunOutcome): string {
  const { verdict, detail, claims, evidence, refused, omitted, gaps } = outcome;
  const accepted = verdict === 'accepted';
  const facts = new Map(evidence.map((fact) => [fact.fact_id, fact]));
  const cited = new Set(claims.flatMap(({ fact_ids }) => fact_ids));
  const head = accepted
    ? claims.map(({ text, fact_ids }) => citedLine(text, fact_ids))
    : [`No supported answer: ${detail ?? NO_ANSWER[verdict]}`];
  const sources = accepted ? [...facts.values()].filter(({ fact_id }) => cited.has(fact_id)) : evidence;
  return [
    ...head,
    ...block(accepted ? 'Sources:' : 'What the material says, word for word:', sources.map(sourceLine)),
    ...block(
      'Refused by the evidence gate; do not state it as fact:',
      refused.map(({ reason, claim, detail: why }) => `${oneLine(claim.text)} (${reason}: ${oneLine(why)})`),
    ),
    ...block('Not read or not done:', [...omittedLine(omitted), ...gapLines(gaps)]),
  ].join('\n');
}

const NO_ANSWER: Readonly<Record<Exclude<RunOutcome['verdict'], 'accepted'>, string>> = {
  refused: 'the evidence gate refused the synthesis.',
  no_evidence: 'nothing was found in the material that answers it.',
  failed: 'the run failed.',
  cancelled: 'the run was stopped.',
  dry_run: 'nothing was asked.',
};

function sourceLine({ fact_id, chunk_id, place, text }: FreshFact): string {
  return `[${fact_id}] ${place === null ? chunk_id : placeText(place)} ${quoted(text)}`;
}

function omittedLine(omitted: RunOutcome['omitted']): readonly string[] {
  const [first] = omitted;
  if (first === undefined) return [];
  const more = omitted.length > 1 ? ` and ${omitted.length - 1} more stretches` : '';
  return [`${first.chunk_id}${more} (${first.reason})`];
}
