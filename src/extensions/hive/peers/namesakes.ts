// Owns who can be meant by a name: nobody but the one peer that has it (ADR 0023; R4.71). Pure.
// Invariants: names that look the same are the same; a name with `@` in it looks like somebody's id and means nobody.
import { foldName } from './fold-name.ts';
import type { KnownPeer } from './peer-transport.ts';

/** All whose name looks like that one. */
export function namesakes(peers: readonly KnownPeer[], name: string): readonly KnownPeer[] {
  const folded = foldName(name);
  return peers.filter(({ peer }) => foldName(peer.name) === folded);
}

/** Such a name is shown as an id only. */
export function looksLikeId(name: string): boolean {
  return foldName(name).includes('@');
}
