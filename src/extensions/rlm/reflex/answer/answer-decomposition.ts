// Owns the answer by rule to a call that asks for a decomposition: a rule cannot split a question, so it is atomic. Passes the strict reader.
import type { JsonObject } from '#base/json.ts';
import { OUTPUT_VERSION } from '../../envelope/output-schema.ts';
import { textAt } from '../read/read-fields.ts';

export function answerDecomposition(input: JsonObject): JsonObject {
  return {
    schema_version: OUTPUT_VERSION,
    mode: 'decompose_ac',
    rlm_node_id: textAt(input, 'rlm_node', 'id'),
    ac_node_id: textAt(input, 'ac_node', 'id'),
    verdict: 'atomic',
    confidence: 1,
    result: { summary: 'The question stays whole.', details: {} },
    evidence_references: [],
    residual_gaps: [],
    artifacts: [
      {
        type: 'decomposition',
        is_atomic: true,
        atomic_rationale: 'What answers is a rule; it cannot split a question.',
        proposed_child_acs: [],
      },
    ],
    control: { requires_retry: false, suggested_next_mode: 'none', must_not_recurse: true },
  };
}
