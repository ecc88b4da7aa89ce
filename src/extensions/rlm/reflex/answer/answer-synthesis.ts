// Owns the answer by rule to a synthesis: the facts of the children that fit the question best, copied with their ids and chunks, each once.
// Invariant: fact id, text and chunk of a claim are those of one child's fact; the summary only counts.
import type { JsonObject } from '#base/json.ts';
import { askedOf } from '../read/asked-of.ts';
import { objectsAt, textAt } from '../read/read-fields.ts';
import { readQuestion } from '../read/read-question.ts';
import { confidenceOf } from './confidence.ts';
import { claimsOf } from './fact-claims.ts';
import { fitFacts, type GivenFact, readFacts } from './fit-facts.ts';

export function answerSynthesis(input: JsonObject): JsonObject {
  const children = objectsAt(input, 'context', 'child_results');
  const facts = children.flatMap(factsOf);
  const fitting = fitFacts(readQuestion(askedOf(input)), facts);
  const gaps = [...children.flatMap(gapsOf), ...(fitting.length === 0 ? [NO_FACT] : [])];
  return {
    mode: 'synthesize_parent',
    rlm_node_id: textAt(input, 'rlm_node', 'id'),
    ac_node_id: textAt(input, 'ac_node', 'id'),
    verdict: gaps.length === 0 ? 'passed' : 'partial',
    confidence: confidenceOf(fitting.map(({ score }) => score)),
    ...claimsOf(
      fitting.map(({ fact }) => fact),
      facts.length,
    ),
    residual_gaps: gaps,
  };
}

/** Where a child's facts stand in a prompt of the scaffold. */
function factsOf(child: JsonObject): readonly GivenFact[] {
  return readFacts(child, 'result_payload', 'reported_result', 'observed_facts');
}

const NO_FACT = {
  gap: 'No child reported a fact that fits the question.',
  impact: 'Nothing is claimed.',
  suggested_next_step: 'Ask with words of the text, or with a model.',
};

function gapsOf(child: JsonObject): readonly JsonObject[] {
  if (textAt(child, 'completion_status') === 'completed') return [];
  return [
    { gap: `${textAt(child, 'call_id')} gave no reply.`, impact: 'Its part is not read.', suggested_next_step: '' },
  ];
}
