// Owns what is shown of a transport's knowledge: its peers in the order of interest, and the suggestions that can be acted on. Pure.
// Invariant: a suggestion is pending, and both of its peers are there (R4.29).
import { foldName } from '../../peers/fold-name.ts';
import { looksLikeId } from '../../peers/namesakes.ts';
import { openSparks } from '../../peers/open-sparks.ts';
import type { Spark } from '../../peers/peer.ts';
import type { KnownPeer, PeerTransport } from '../../peers/peer-transport.ts';

export interface PeersKnown {
  readonly selfId: string;
  readonly peers: readonly KnownPeer[];
  readonly sparks: readonly Spark[];
}

export function peersKnown(transport: PeerTransport): PeersKnown {
  const { selfId } = transport;
  const peers = transport.peers();
  return { selfId, peers, sparks: openSparks(peers, transport.sparks()) };
}

/** Those with new messages first, then those who were last heard of or introduced; who left comes last. */
export function byInterest(peers: readonly KnownPeer[]): readonly KnownPeer[] {
  return peers
    .map((known, at) => ({ known, at }))
    .sort((left, right) => rank(left.known) - rank(right.known) || later(left.known, right.known) || right.at - left.at)
    .map(({ known }) => known);
}

function rank({ peer, traffic }: KnownPeer): number {
  if (traffic.unread > 0) return 0;
  return peer.status === 'left' ? 2 : 1;
}

function later(left: KnownPeer, right: KnownPeer): number {
  return right.traffic.lastAt - left.traffic.lastAt;
}

/** What to call somebody: the name, or the id where another name looks the same or the name looks like an id. */
export function callNames(
  peers: readonly KnownPeer[],
): (peer: { readonly name: string; readonly id: string }) => string {
  const count = new Map<string, number>();
  for (const { peer } of peers) {
    const folded = foldName(peer.name);
    count.set(folded, (count.get(folded) ?? 0) + 1);
  }
  return ({ name, id }) => (looksLikeId(name) || (count.get(foldName(name)) ?? 0) > 1 ? id : name);
}
