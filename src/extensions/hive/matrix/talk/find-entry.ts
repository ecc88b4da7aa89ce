// Owns the way from an opaque id to a known peer, and who of them may be written to. Invariant: exact ids only; whoever is unknown, has left or
// would not be alone in reading gets nothing.
import { ellipsize } from '#base/text.ts';
import { PeerError } from '../../peers/peer-error.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import type { PeerRoom } from '../rooms/order-rooms.ts';
import type { PeerEntry } from '../rooms/peer-view.ts';

type Ground = Pick<MatrixGround, 'shelf' | 'viewer'>;

/** Throws `peer-unknown`. */
export function findEntry({ shelf, viewer }: Ground, id: string): PeerEntry {
  const entry = viewer.view(shelf.book()).get(id);
  if (entry !== undefined) return entry;
  const text = `there is no peer ${JSON.stringify(ellipsize(id, 100))}`;
  throw new PeerError(text, { code: 'peer-unknown', forModel: text, fix: 'See talaria peers list.' });
}

/** Where a message to that peer goes. Throws `peer-unknown`, `peer-left`, `peers-forbidden`, `peers-encryption`. */
export function roomToWrite(ground: Ground, id: string): PeerRoom {
  if (findEntry(ground, id).isHeldBack)
    throw new PeerError(`${id} could be written to in clear alone, and what was said before was encrypted`, {
      code: 'peers-encryption',
      fix: `Make contact with ${id} anew: talaria peers invite`,
    });
  const first = presentEntry(ground, id).rooms[0];
  if (!first.verdict.isShared) return first;
  throw new PeerError(`somebody else is in ${first.room.id} by now and would read what is said to ${id}`, {
    code: 'peers-forbidden',
    forModel: 'somebody else would read what is said to this peer, so nothing was sent',
    fix: `Make contact with ${id} directly: talaria peers invite`,
  });
}

/** Throws `peer-unknown`, `peer-left`. */
export function presentEntry(ground: Ground, id: string): PeerEntry {
  const entry = findEntry(ground, id);
  if (entry.known.peer.status !== 'left') return entry;
  throw new PeerError(`${id} has left`, {
    code: 'peer-left',
    forModel: `${entry.known.peer.name} has left and cannot be written to`,
    fix: 'Somebody has to introduce you again.',
  });
}
