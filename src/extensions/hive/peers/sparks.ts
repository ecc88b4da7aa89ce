// Owns what becomes of sparks: how one begins, when two are about the same peers, which are suggestions, and how those kept by several
// processes become one list (hivemind notes 3; 6, B2 and B13; R4.28 to R4.30). Pure. Invariants: ids tell peers apart, in either order; a pair
// has one spark for ever, the one that was kept first; nothing that was kept gets lost; a status only goes forward.

import { type Clock, isoTime } from '#base/clock.ts';
import { randomHex } from '#base/ids.ts';
import type { Peer, Spark, SparkStatus } from './peer.ts';
import type { KnownPeer } from './peer-transport.ts';

/** The same for (a, b) and (b, a). Ids hold no line break. */
export function pairKey(a: string, b: string): string {
  return a < b ? `${a}\n${b}` : `${b}\n${a}`;
}

/** The key of the pair that a spark is about. */
export function pairOf({ peer_a_id, peer_b_id }: Pick<Spark, 'peer_a_id' | 'peer_b_id'>): string {
  return pairKey(peer_a_id, peer_b_id);
}

type Named = Pick<Peer, 'name' | 'id'>;

export function newSpark(
  clock: Clock,
  [a, b]: readonly [Named, Named],
  about: Pick<Spark, 'reason' | 'confidence' | 'status' | 'by'>,
): Spark {
  return {
    id: randomHex(4),
    peer_a: a.name,
    peer_b: b.name,
    peer_a_id: a.id,
    peer_b_id: b.id,
    ...about,
    created_at: isoTime(clock.now()),
  };
}

export function openSparks(peers: readonly KnownPeer[], sparks: readonly Spark[]): readonly Spark[] {
  const here = new Map(peers.flatMap((known) => (known.peer.status === 'left' ? [] : [[known.peer.id, known]])));
  return sparks.filter(({ status, peer_a_id, peer_b_id }) => {
    const [a, b] = [here.get(peer_a_id), here.get(peer_b_id)];
    return status === 'pending' && a !== undefined && b !== undefined && !knowEachOther(a, b);
  });
}

/** Whoever introduced somebody to us knows both. */
export function knowEachOther(a: KnownPeer, b: KnownPeer): boolean {
  return a.introducedById === b.peer.id || b.introducedById === a.peer.id;
}

const RANK: Readonly<Record<SparkStatus, number>> = { pending: 0, dismissed: 1, executed: 2 };

/** `kept` is what everybody sees already; of `changed` new pairs and later statuses count. */
export function mergeSparks(kept: readonly Spark[], changed: readonly Spark[]): readonly Spark[] {
  const byPair = new Map<string, Spark>();
  for (const spark of [...kept, ...changed]) {
    const key = pairOf(spark);
    const known = byPair.get(key);
    if (known === undefined) byPair.set(key, spark);
    else if (RANK[spark.status] > RANK[known.status]) byPair.set(key, { ...known, status: spark.status });
  }
  return [...byPair.values()];
}

/** Whether everything in `wanted` is in `kept`, at least as far along. */
export function holdsSparks(kept: readonly Spark[], wanted: readonly Spark[]): boolean {
  const ranks = new Map(kept.map((spark) => [pairOf(spark), RANK[spark.status]]));
  return wanted.every((spark) => (ranks.get(pairOf(spark)) ?? -1) >= RANK[spark.status]);
}
