// Owns what is asked about two peers and what an answer must look like (seed 004, SparkEvaluation): two JSON shapes and their caps.
// Knows no model and no rule. Invariant: in the input every word of a peer stands within a JSON string.
import { z } from 'zod';

export const PAIR_SCHEMA = 'peer-spark/1';

/** Of the answer. */
export const PAIR_CAPS = { reason: 240, tokens: 150 } as const;

const lines = z.array(z.string());

export const pairMemberSchema = z.object({
  name: z.string(),
  needs: lines,
  offers: lines,
  expertise: lines,
  summary_text: z.string(),
});

export type PairMember = z.infer<typeof pairMemberSchema>;

export const pairInputSchema = z.object({
  schema_version: z.literal(PAIR_SCHEMA),
  peers: z.tuple([pairMemberSchema, pairMemberSchema]),
});

export type PairInput = z.infer<typeof pairInputSchema>;

export const evaluationSchema = z.object({
  should_introduce: z.boolean(),
  reason: z.string(),
  confidence: z.enum(['high', 'medium', 'low']),
});

export type Evaluation = z.infer<typeof evaluationSchema>;
