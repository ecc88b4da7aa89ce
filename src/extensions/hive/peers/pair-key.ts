// Owns when two sparks are about the same two peers: by ids, in either order (R4.28; hivemind notes 6, B2). Pure.
import type { Spark } from './peer.ts';

/** The same for (a, b) and (b, a). Ids hold no line break. */
export function pairKey(a: string, b: string): string {
  return a < b ? `${a}\n${b}` : `${b}\n${a}`;
}

/** The key of the pair that a spark is about. */
export function pairOf({ peer_a_id, peer_b_id }: Pick<Spark, 'peer_a_id' | 'peer_b_id'>): string {
  return pairKey(peer_a_id, peer_b_id);
}
