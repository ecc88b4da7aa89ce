// Owns the form in which a summary is kept in the account data of its room (R4.39). Pure.
import { z } from 'zod';
import type { JsonObject } from '#base/json.ts';
import type { PeerSummary } from '../../peers/peer.ts';

const phrases = z.array(z.string());
const schema = z.object({
  peer_name: z.string(),
  needs: phrases,
  offers: phrases,
  expertise: phrases,
  summary_text: z.string(),
  last_updated: z.string(),
  message_count_at_update: z.int().min(0),
  last_message_id: z.string().exactOptional(),
  by: z.enum(['model', 'rule']).default('model'),
});

/** Undefined when it is no summary. */
export function readSummary(value: JsonObject): PeerSummary | undefined {
  const read = schema.safeParse(value);
  return read.success ? read.data : undefined;
}

export function writeSummary(summary: PeerSummary): JsonObject {
  return { ...summary };
}
