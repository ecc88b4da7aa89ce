// Owns the answer by rule to one scaffold call (`rlm.hermes.input.v1`): which of its four modes it is, and a reply in the contract's form.
// Invariant: total on any object; every text of a fact or a claim stands in the material of the prompt. Seed 003: bounded JSON sub-calls.
import type { JsonObject } from '#base/json.ts';
import { fieldAt } from '../read/read-fields.ts';
import { answerDecomposition } from './answer-decomposition.ts';
import { answerLeaf } from './answer-leaf.ts';
import { answerSynthesis } from './answer-synthesis.ts';

export function answerHermes(input: JsonObject): string {
  return JSON.stringify(replyTo(input));
}

function replyTo(input: JsonObject): JsonObject {
  switch (fieldAt(input, 'mode')) {
    case 'decompose_ac':
      return answerDecomposition(input);
    case 'synthesize_parent':
      return answerSynthesis(input);
    case 'summarize_chunk':
      return answerLeaf(input, 'summarize_chunk');
    default:
      return answerLeaf(input, 'execute_atomic');
  }
}
