// Owns what is shown of a transport's knowledge: peers in the order of interest, suggestions that can be acted on (R4.29), what to call a
// peer, and who is said to have introduced it (ADR 0023; R4.71). Pure. Invariant: ids are compared, since anybody can take a name; a name
// alone is said only of one whose name nobody else has, and of an introducer only who is on our server and the peer's.
import { foldName, looksLikeId, peerName } from '../peers/find-peer.ts';
import type { Spark } from '../peers/peer.ts';
import type { KnownPeer, PeerTransport } from '../peers/peer-transport.ts';
import { openSparks } from '../peers/sparks.ts';

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

/** `called`: what to call it. `somebody` also where nobody knows the id, by the name that was said. */
export type Introducer =
  | { readonly kind: 'self' }
  | { readonly kind: 'peer' }
  | { readonly kind: 'somebody'; readonly called: string };

/** Of many peers at once. */
export function introducers(selfId: string, peers: readonly KnownPeer[]): (known: KnownPeer) => Introducer {
  const owners = ownersOfNames(selfId, peers);
  const isShared = (name: string) => (owners.get(foldName(name))?.size ?? 0) > 1;
  return ({ peer, introducedById: id }) => {
    if (id === undefined) return { kind: 'somebody', called: peer.introduced_by };
    if (id === selfId) return { kind: 'self' };
    if (id === peer.id) return { kind: 'peer' };
    const name = peerName(id);
    const isNear = [selfId, peer.id].every((other) => serverOf(other) === serverOf(id));
    return { kind: 'somebody', called: isNear && !isShared(name) && !looksLikeId(name) ? name : id };
  };
}

function ownersOfNames(selfId: string, peers: readonly KnownPeer[]): ReadonlyMap<string, ReadonlySet<string>> {
  // `you` is what we call ourselves.
  const owners = new Map<string, Set<string>>([['you', new Set([selfId])]]);
  const own = (id: string): void => {
    const name = foldName(peerName(id));
    const ids = owners.get(name);
    if (ids === undefined) owners.set(name, new Set([id]));
    else ids.add(id);
  };
  own(selfId);
  for (const { peer, introducedById } of peers) {
    own(peer.id);
    if (introducedById !== undefined) own(introducedById);
  }
  return owners;
}

function serverOf(id: string): string {
  return id.slice(id.lastIndexOf('@') + 1);
}
