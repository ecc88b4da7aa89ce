// Owns a peer and a suggestion as tools show them: the six fields and no other (R4.62, R4.64). Pure.
// Invariant: what others wrote stands in JSON strings, without characters that nobody sees, and capped.
import type { JsonObject } from '#base/json.ts';
import { ellipsize } from '#base/text.ts';
import type { Peer, Spark } from '../../peers/peer.ts';
import { plainText } from '../view/plain-text.ts';

const NAME_LIMIT = 300;

export function shownPeer(peer: Peer, contextLimit: number): JsonObject {
  return {
    name: shownName(peer.name),
    id: shownName(peer.id),
    context: ellipsize(plainText(peer.context), contextLimit),
    introduced_by: shownName(peer.introduced_by),
    introduced_at: peer.introduced_at,
    status: peer.status,
  };
}

/** `call` gives the id where the name is shared. */
export function shownSpark(
  spark: Spark,
  call: (peer: { readonly name: string; readonly id: string }) => string,
): JsonObject {
  return {
    peer_a: shownName(call({ name: spark.peer_a, id: spark.peer_a_id })),
    peer_b: shownName(call({ name: spark.peer_b, id: spark.peer_b_id })),
    reason: ellipsize(plainText(spark.reason), 400),
    confidence: spark.confidence,
    ...(spark.by === 'rule' ? { by: 'rule' } : {}),
  };
}

export function shownName(name: string): string {
  return ellipsize(plainText(name), NAME_LIMIT);
}
