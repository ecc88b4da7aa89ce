// Owns what a pair is made of: peers that are there and have been summed up. Knows no transport call. Seed 004, spark detector.

import type { Peer, PeerSummary } from '../../peers/peer.ts';
import type { KnownPeer } from '../../peers/peer-transport.ts';

export interface SummarisedPeer {
  readonly peer: Peer;
  readonly summary: PeerSummary;
}

/** By id, without those that left. */
export function summarisedPeers(known: readonly KnownPeer[]): ReadonlyMap<string, SummarisedPeer> {
  const all = new Map<string, SummarisedPeer>();
  for (const { peer, summary } of known)
    if (summary !== undefined && peer.status !== 'left') all.set(peer.id, { peer, summary });
  return all;
}
