// Owns the shapes of the four artifacts of a reply (notes 15.2). Shapes only; what they may cite is judged in judge-output.ts.
import { z } from 'zod';

const text = z.string();
const ids = z.array(z.string());

const proposedChild = z.strictObject({
  title: text,
  statement: text.min(1),
  success_criteria: z.array(text.min(1)).min(1),
  rationale: text,
  /** Indices of earlier children, from 0. */
  depends_on: z.array(z.int().min(0)),
  estimated_chunk_needs: z.unknown(),
});

const decomposition = z.strictObject({
  type: z.literal('decomposition'),
  is_atomic: z.boolean(),
  atomic_rationale: text.nullish(),
  proposed_child_acs: z.array(proposedChild).default([]),
});

const atomicExecution = z.strictObject({
  type: z.literal('atomic_execution'),
  deliverable: z.unknown(),
  checks_performed: z.array(z.unknown()),
  claims: z.array(
    z.looseObject({ evidence_chunk_ids: ids.optional(), chunk_id: text.nullish(), evidence_chunk_id: text.nullish() }),
  ),
  completion_notes: z.unknown(),
});

const chunkSummary = z.strictObject({
  type: z.literal('chunk_summary'),
  summary_id: text.min(1),
  source_chunk_ids: ids.min(1),
  target_ac_id: text,
  facts: z.array(z.unknown()),
  irrelevant_sections: z.array(z.unknown()),
  token_estimate_after_summary: z.int().min(0),
});

const parentSynthesis = z.strictObject({
  type: z.literal('parent_synthesis'),
  child_result_ids: ids,
  combined_verdict: text,
  satisfied_criteria: z.array(z.unknown()),
  unsatisfied_criteria: z.array(z.unknown()),
  evidence_rollup: z.unknown(),
  recommended_outer_decision: text,
});

export const artifact = z.discriminatedUnion('type', [decomposition, atomicExecution, chunkSummary, parentSynthesis]);
export type Artifact = z.infer<typeof artifact>;
export type Decomposition = z.infer<typeof decomposition>;
