// Owns the form in which sparks are kept in the account data of the user (R4.40): `{sparks: […]}`. Pure.
// Invariant: an entry that we cannot read (of another version, say) is carried along unchanged.
import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { Spark } from '../../peers/peer.ts';
import { listAt } from '../events/json-access.ts';

export interface SparkShelf {
  readonly sparks: readonly Spark[];
  /** Entries as they were, at most 500. */
  readonly foreign: readonly JsonObject[];
}

const MAX_FOREIGN = 500;
const id = z.string().min(3).max(300);
const schema = z.object({
  id: z.string().min(1).max(64),
  peer_a: z.string(),
  peer_b: z.string(),
  peer_a_id: id,
  peer_b_id: id,
  reason: z.string(),
  confidence: z.enum(['high', 'medium', 'low']),
  created_at: z.string(),
  status: z.enum(['pending', 'executed', 'dismissed']),
  by: z.enum(['model', 'rule']).default('model'),
});

export const NO_SPARKS: SparkShelf = { sparks: [], foreign: [] };

export function readSparks(value: JsonObject): SparkShelf {
  const read = listAt(value, 'sparks').map((item) => ({ item, parsed: schema.safeParse(item) }));
  return {
    sparks: read.flatMap(({ parsed }) => (parsed.success ? [parsed.data] : [])),
    foreign: read.flatMap(({ item, parsed }) => (parsed.success ? [] : objectsOnly(item))).slice(0, MAX_FOREIGN),
  };
}

export function writeSparks({ sparks, foreign }: SparkShelf): JsonObject {
  return { sparks: [...sparks.map((spark) => ({ ...spark })), ...foreign] };
}

function objectsOnly(item: JsonValue): readonly JsonObject[] {
  return isJsonObject(item) ? [item] : [];
}
