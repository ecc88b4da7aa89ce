// Owns what is asked about one peer and what an answer must look like (seed 004, PeerSummary): two JSON shapes and their caps.
// Knows no model and no rule. Invariant: in the input every word of a peer stands within a JSON string.
import { z } from 'zod';

export const SUMMARY_SCHEMA = 'peer-summary/1';

/** Of the answer. */
export const SUMMARY_CAPS = { items: 6, item: 120, text: 400, tokens: 300 } as const;

export const summaryInputSchema = z.object({
  schema_version: z.literal(SUMMARY_SCHEMA),
  peer: z.object({ name: z.string() }),
  /** `text` is what `by` told us when we were connected. */
  introduction: z.object({ by: z.string(), text: z.string() }),
  /** Oldest first. `author` cannot be chosen by a sender, `from` is only a name. */
  messages: z.array(
    z.object({ author: z.enum(['peer', 'me', 'other']), from: z.string(), time: z.string(), text: z.string() }),
  ),
});

export type SummaryInput = z.infer<typeof summaryInputSchema>;

export const summaryAnswerSchema = z.object({
  needs: z.array(z.string()),
  offers: z.array(z.string()),
  expertise: z.array(z.string()),
  summary_text: z.string(),
});

export type SummaryAnswer = z.infer<typeof summaryAnswerSchema>;
