// Owns which sparks are suggestions: those that are pending and whose two peers are there (R4.29). Pure.
import type { Spark } from './peer.ts';
import type { KnownPeer } from './peer-transport.ts';

export function openSparks(peers: readonly KnownPeer[], sparks: readonly Spark[]): readonly Spark[] {
  const here = new Set(peers.flatMap(({ peer }) => (peer.status === 'left' ? [] : [peer.id])));
  return sparks.filter(
    ({ status, peer_a_id, peer_b_id }) => status === 'pending' && here.has(peer_a_id) && here.has(peer_b_id),
  );
}
