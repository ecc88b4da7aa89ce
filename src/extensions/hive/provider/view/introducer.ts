// Owns who is said to have introduced a peer (ADR 0023; R4.71). Pure.
// Invariants: ids are compared, since anybody can take a name; a name alone is said only of one who is on our server and the peer's, and
// whose name nobody else has.
import { foldName } from '../../peers/fold-name.ts';
import { looksLikeId } from '../../peers/namesakes.ts';
import { peerName } from '../../peers/peer-name.ts';
import type { KnownPeer } from '../../peers/peer-transport.ts';

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
