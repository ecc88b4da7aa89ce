/**
 * Owns the shape of what an inner call answers: `rlm.hermes.output.v1` (notes 15.2). It does not know what was asked.
 * Invariant: every listed field is there and no other. Serves seed 003: returns structured JSON evidence to Ouroboros.
 */
import { z } from 'zod';
import { artifact } from './artifact-schema.ts';
import { CALL_MODES, VERDICTS } from './call-mode.ts';

export const OUTPUT_VERSION = 'rlm.hermes.output.v1';

const text = z.string();

const reference = z.strictObject({
  chunk_id: text.min(1),
  source_path: text.nullable(),
  start_line: z.int().min(1).nullable(),
  end_line: z.int().min(1).nullable(),
  claim: text,
});

const gap = z.strictObject({ gap: text, impact: text, suggested_next_step: text });

export const outputSchema = z.strictObject({
  schema_version: z.literal(OUTPUT_VERSION),
  mode: z.enum(CALL_MODES),
  rlm_node_id: text,
  ac_node_id: text,
  verdict: z.enum(VERDICTS),
  confidence: z.number().min(0).max(1),
  result: z.strictObject({ summary: text, details: z.unknown() }),
  evidence_references: z.array(reference),
  residual_gaps: z.array(gap),
  artifacts: z.array(artifact),
  control: z.strictObject({
    requires_retry: z.boolean(),
    suggested_next_mode: z.enum([...CALL_MODES, 'none']),
    must_not_recurse: z.boolean(),
  }),
});
export type HermesOutput = z.infer<typeof outputSchema>;
