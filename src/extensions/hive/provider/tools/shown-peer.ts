// Owns a peer and a suggestion as tools show them: the six fields and no other (R4.62, R4.64). Pure.
// Invariant: what others wrote stands in JSON strings, without characters that nobody sees, and capped.
import type { JsonObject } from '#base/json.ts';
import { ellipsize } from '#base/text.ts';
import { looksLikeId } from '../../peers/namesakes.ts';
import type { Spark } from '../../peers/peer.ts';
import type { KnownPeer } from '../../peers/peer-transport.ts';
import { plainText } from '../../peers/plain-text.ts';
import type { Introducer } from '../view/introducer.ts';

const NAME_LIMIT = 300;

/** `introduced_by`: `you`, the peer's own name, or what the introducer is called. */
export function shownPeer({ peer }: KnownPeer, introducer: Introducer, contextLimit: number): JsonObject {
  const name = shownName(looksLikeId(peer.name) ? peer.id : peer.name);
  return {
    name,
    id: shownName(peer.id),
    context: ellipsize(plainText(peer.context), contextLimit),
    introduced_by: introducedBy(introducer, name),
    introduced_at: peer.introduced_at,
    status: peer.status,
  };
}

function introducedBy(introducer: Introducer, itself: string): string {
  if (introducer.kind === 'somebody') return shownName(introducer.called);
  return introducer.kind === 'self' ? 'you' : itself;
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
