// Owns the answer by rule to the baseline's one call (`rlm.vanilla_baseline.input.v1`): facts that are given, and tagged lines of its chunks.
// Invariant: a claim is a given fact or a line of a given chunk with the id that it begins with; nothing of an omitted chunk is named.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { pickQuotes } from '../rank/pick-quotes.ts';
import { askedOf } from '../read/asked-of.ts';
import { fieldAt, objectsAt, textAt } from '../read/read-fields.ts';
import { readQuestion } from '../read/read-question.ts';
import { confidenceOf } from './confidence.ts';
import { claimsOf } from './fact-claims.ts';
import { fitFacts, readFacts } from './fit-facts.ts';

export function answerVanilla(input: JsonObject): string {
  const question = readQuestion(askedOf(input));
  const chunks = objectsAt(input, 'context', 'retained_chunks');
  const given = readFacts(input, 'context', 'retained_facts');
  const read = chunks.flatMap((chunk) =>
    pickQuotes(question, textAt(chunk, 'content')).flatMap(({ text, tag }) =>
      tag === null ? [] : [{ fact_id: tag, text, chunk_id: textAt(chunk, 'chunk_id') }],
    ),
  );
  const facts = given.length > 0 ? given : read.filter(({ chunk_id }) => chunk_id !== '');
  const fitting = fitFacts(question, facts);
  const { result, ...references } = claimsOf(
    fitting.map(({ fact }) => fact),
    facts.length,
  );
  const omitted = fieldAt(input, 'context', 'omitted_chunk_ids');
  const beyond = Array.isArray(omitted) ? omitted.length : 0;
  return JSON.stringify({
    mode: 'vanilla_single_pass',
    verdict: fitting.length > 0 && beyond === 0 ? 'passed' : 'partial',
    confidence: confidenceOf(fitting.map(({ score }) => score)),
    result: { ...(isJsonObject(result) ? result : {}), truncation_report: reportOf(input) },
    ...references,
    residual_gaps: beyond === 0 ? [] : [gapOf(beyond)],
  });
}

/** Where the supplied text ends, as the prompt says. */
function reportOf(input: JsonObject): JsonObject {
  const boundary = fieldAt(input, 'context', 'truncation_boundary');
  return isJsonObject(boundary) ? boundary : {};
}

function gapOf(beyond: number): JsonObject {
  return {
    gap: `${beyond} chunks were omitted; what they hold is unknown and not claimed.`,
    impact: 'The answer ends where the supplied chunks end.',
    suggested_next_step: '',
  };
}
