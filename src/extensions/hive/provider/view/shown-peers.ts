// Owns what of the peers a conversation was told already, so that a turn says only what is new. Knows no transport.
// Invariant: the first view is whole; afterwards nothing is said twice that did not change.
import { sha256 } from '#base/ids.ts';
import type { KnownPeer } from '../../peers/peer-transport.ts';
import type { PeersKnown } from './peers-known.ts';
import { renderPeers } from './peers-view.ts';

export interface ShownPeers {
  /** What to say now, and it counts as said; empty when nothing is new. */
  next(known: PeersKnown): string;
  /** Everything, and it counts as said. */
  all(known: PeersKnown): string;
  /** The conversation forgot what was said. */
  forget(): void;
}

interface Said {
  /** Hash: of thousands of peers only what they changed to is worth the memory. */
  readonly words: string;
  readonly unread: number;
}

export function createShownPeers(): ShownPeers {
  const peers = new Map<string, Said>();
  const sparks = new Set<string>();
  let isFirst = true;
  const say = (known: PeersKnown, text: string): string => {
    for (const peer of known.peers) peers.set(peer.peer.id, saidOf(peer));
    for (const { id } of known.sparks) sparks.add(id);
    if (text !== '') isFirst = false;
    return text;
  };
  const isNews = (known: KnownPeer): boolean => {
    const before = peers.get(known.peer.id);
    const now = saidOf(known);
    return before?.words !== now.words || (now.unread > 0 && now.unread !== before.unread);
  };
  const all = (known: PeersKnown): string => say(known, renderPeers(known));
  return {
    all,
    next: (known) => {
      if (isFirst) return all(known);
      const news = { peers: known.peers.filter(isNews), sparks: known.sparks.filter(({ id }) => !sparks.has(id)) };
      return say(known, renderPeers(known, news));
    },
    forget: () => {
      peers.clear();
      sparks.clear();
      isFirst = true;
    },
  };
}

function saidOf({ peer, traffic }: KnownPeer): Said {
  return { words: sha256(JSON.stringify([peer.context, peer.status, peer.introduced_by])), unread: traffic.unread };
}
