// Owns whether what a scaffold run accepted rests on its evidence, and its evidence on what it read: each claim names facts and says what they
// say, each quotation stands in its chunk, each fact comes from a call over that chunk. Pure, without a model. Seed 003, TraceGuard.
import { parseChunkId } from '../../chunk/chunk-id.ts';
import { EvidenceWords } from '../../guard/evidence-words.ts';
import type { GuardMode } from '../../guard/parent-claim.ts';
import { keptChunks } from '../../page/source/kept-chunk.ts';
import type { AcceptedClaim, FreshFact, RunOutcome } from '../../run/run-outcome.ts';
import { WholeQuotes } from '../../text/whole-quotes.ts';
import type { RunRecord } from '../run-record.ts';
import { type Problem, problem } from './problem.ts';

export function checkClaims(outcome: RunOutcome, record: RunRecord): readonly Problem[] {
  const mode: GuardMode = record.row.request.guard_mode === 'v1' ? 'v1' : 'strict';
  return [
    ...checkVerdict(outcome),
    ...outcome.claims.flatMap((claim, at) => checkClaim(claim, `claim ${at + 1}`, { outcome, mode })),
    ...checkEvidence(outcome.evidence, record),
  ];
}

function checkVerdict({ verdict, claims }: RunOutcome): readonly Problem[] {
  if (verdict === 'accepted' && claims.length === 0)
    return [problem('verdict-unfounded', 'the verdict', 'It is accepted, and there is no claim.')];
  if (verdict !== 'accepted' && claims.length > 0)
    return [problem('verdict-unfounded', 'the verdict', `It is ${verdict}, and there are accepted claims.`)];
  return [];
}

interface ClaimGround {
  readonly outcome: RunOutcome;
  readonly mode: GuardMode;
}

function checkClaim({ text, fact_ids }: AcceptedClaim, where: string, { outcome, mode }: ClaimGround) {
  if (fact_ids.length === 0) return [problem('claim-without-evidence', where, 'It names no fact.')];
  const problems: Problem[] = [];
  for (const id of fact_ids) {
    const facts = outcome.evidence.filter(({ fact_id }) => fact_id === id);
    if (facts.length === 0) problems.push(problem('claim-without-evidence', where, `There is no evidence for ${id}.`));
    else if (mode === 'strict' && !facts.some((fact) => isSaid(text, fact)))
      problems.push(problem('claim-not-said', where, `The evidence for ${id} does not say it.`));
  }
  return problems;
}

/** A claim of several texts holds each of them. */
function isSaid(text: string, fact: FreshFact): boolean {
  const words = new EvidenceWords(fact.fact_id, fact.text);
  return words.says(text) || text.split('\n').every((line) => words.says(line));
}

function checkEvidence(evidence: readonly FreshFact[], record: RunRecord): readonly Problem[] {
  const chunks = new Map(keptChunks(record.row.request, record.textOf).map((chunk) => [chunk.chunk_id, chunk.text]));
  const finders = new Map([...chunks].map(([id, text]) => [id, new WholeQuotes(text)]));
  const calls = new Map(record.calls.map((call) => [call.call_id, call]));
  return evidence.flatMap((fact) => {
    const where = `fact ${fact.fact_id}`;
    const problems: Problem[] = [];
    const finder = finders.get(fact.chunk_id);
    if (finder === undefined)
      problems.push(problem('text-missing', where, `The text of ${fact.chunk_id} is not kept.`));
    else if (finder.find(fact.text) === undefined)
      problems.push(problem('quote-not-in-chunk', where, `${fact.chunk_id} does not say it.`));
    const call = calls.get(fact.child_call_id);
    if (call === undefined || !call.success || !call.selected_chunk_ids.includes(fact.chunk_id))
      problems.push(
        problem('evidence-call', where, `No answered call ${fact.child_call_id} was over ${fact.chunk_id}.`),
      );
    return [...problems, ...checkPlace(fact, where)];
  });
}

function checkPlace({ chunk_id, place }: FreshFact, where: string): readonly Problem[] {
  const lines = place === null ? null : parseChunkId(chunk_id);
  if (place === null || lines === null) return [];
  const inside =
    place.source_path === lines.path && place.start_line >= lines.start_line && place.end_line <= lines.end_line;
  return inside ? [] : [problem('evidence-call', where, `Its lines lie outside ${chunk_id}.`)];
}
