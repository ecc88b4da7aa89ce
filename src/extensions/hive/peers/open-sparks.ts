// Owns which sparks are suggestions: pending, both peers are there (R4.29), and neither introduced the other to us. Pure.
import type { Spark } from './peer.ts';
import type { KnownPeer } from './peer-transport.ts';

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
