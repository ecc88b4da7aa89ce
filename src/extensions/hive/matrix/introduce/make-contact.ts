// Owns first contact with somebody that nobody introduced: a room of two, marked as such, so that it gives a peer on both sides (decision 0023).
import { throwIfAborted } from '#base/abort.ts';
import { PeerError } from '../../peers/peer-error.ts';
import type { Contact } from '../../peers/peer-transport.ts';
import { aboutLine } from '../events/introduction-line.ts';
import { userIdOf } from '../events/user-id.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import type { PeerRoom } from '../rooms/order-rooms.ts';
import type { PeerEntry } from '../rooms/peer-view.ts';
import type { RoomRecord } from '../rooms/room-book.ts';
import { keepPeerNote, noteFor, withKind } from '../sync/enter-room.ts';
import type { OwnRooms } from './own-rooms.ts';

export async function makeContact(
  ground: MatrixGround,
  { contact, ownRooms }: { readonly contact: Contact; readonly ownRooms: OwnRooms },
  signal: AbortSignal,
): Promise<void> {
  throwIfAborted(signal);
  const userId = userIdOf(contact.id);
  if (userId === undefined || userId === ground.selfId) throw noContact(contact.id, userId !== undefined);
  const key = `contact ${userId}`;
  const known = ground.viewer.view(ground.shelf.book()).get(contact.id);
  const ours = known === undefined ? undefined : ownRoomOf(known, ground.selfId);
  // Known through somebody else: there is nothing to make.
  if (known !== undefined && canTalk(known.rooms[0]) && ours === undefined) return;
  if (known !== undefined && ours === undefined && mayForget(known, ownRooms.isUnfinished(key))) ownRooms.forget(key);
  const keep = (room: RoomRecord) => keepContext(ground, { room, userId, context: contact.context }, signal);
  if (ours !== undefined && !ownRooms.isUnfinished(key)) return keep(ours);
  const lines = [aboutLine(ground.selfId, contact.about)];
  await ownRooms.carryOut({ key, invite: [userId], isDirect: true, lines, onMade: keep }, signal);
}

function ownRoomOf({ rooms }: PeerEntry, selfId: string): RoomRecord | undefined {
  return rooms.find((one) => one.room.creation?.sender === selfId && canTalk(one))?.room;
}

function canTalk({ verdict }: PeerRoom): boolean {
  return verdict.status !== 'left' && !verdict.isShared;
}

/** What was begun and may have made a room goes on, unless the peer has left it. */
function mayForget({ known }: PeerEntry, isUnfinished: boolean): boolean {
  return known.peer.status === 'left' || !isUnfinished;
}

interface Kept {
  readonly room: RoomRecord;
  readonly userId: string;
  readonly context: string;
}

/** What we keep about the other; what was kept before stays. */
async function keepContext(ground: MatrixGround, { room, userId, context }: Kept, signal: AbortSignal): Promise<void> {
  ground.shelf.changeRoom(room.id, ({ notes, ...now }) => {
    const known = notes.peer;
    if (known !== undefined && (known.context !== '' || context === '')) return { ...now, notes };
    const verdict = { kind: 'peer', userId, introducerId: ground.selfId, status: 'invited', isShared: false } as const;
    const peer = { ...(known ?? noteFor(ground, { ...now, notes }, verdict)), context };
    return { ...now, notes: { ...notes, peer, behind: withKind(notes.behind, 'peer') } };
  });
  await keepPeerNote(ground, room.id, signal);
}

function noContact(id: string, isSelf: boolean): PeerError {
  const text = isSelf ? 'this is the agent itself' : `${JSON.stringify(id.slice(0, 100))} is no id of an agent`;
  return new PeerError(text, { code: 'peer-unknown', forModel: text, fix: 'An id has the form NAME@SERVER.' });
}
