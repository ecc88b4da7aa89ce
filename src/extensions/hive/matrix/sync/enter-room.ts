// Owns what makes a room that we are in a known peer: the search for its context, then the note on the server (seed 004, on-demand sync;
// R4.47). Invariant: what was found is in the book before it is written, so that a failed write loses nothing and is made up for.
import { isoTime } from '#base/clock.ts';
import { PeerError } from '../../peers/peer-error.ts';
import { PEER_KEY } from '../account-data/account-data.ts';
import type { StoredPeer } from '../account-data/stored-peer.ts';
import { objectsAt } from '../events/json-access.ts';
import { readStripped } from '../events/room-event.ts';
import { nameOf } from '../events/user-id.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import { applyState } from '../rooms/apply-state.ts';
import { type FoundContext, findContext } from '../rooms/find-context.ts';
import type { PeerVerdict } from '../rooms/judge-room.ts';
import { noteTime } from '../rooms/order-rooms.ts';
import { type NoteKind, newRoom, type RoomRecord } from '../rooms/room-book.ts';
import { addSeen } from '../rooms/seen-messages.ts';

/** Accepts an invitation and takes in who is there. Throws what the network did; then the invitation, or the room, waits for the next time. */
export async function enterRoom(ground: MatrixGround, roomId: string, signal: AbortSignal): Promise<RoomRecord> {
  // Always a JSON body: some servers refuse to join without one (R4.66). Joining twice is joining once.
  await ground.http({ method: 'POST', path: ['v3', 'join', roomId], body: {}, repeatable: true }, signal);
  const answer = await ground.http({ method: 'GET', path: ['v3', 'rooms', roomId, 'state'] }, signal);
  const state = objectsAt(answer, 'list').flatMap((event) => readStripped(event) ?? []);
  const room = applyState(newRoom(roomId, ground.shelf.book().encrypted), state);
  ground.shelf.putRoom(room);
  return room;
}

/** Finds out what there is to know about the peer of a room and keeps it. */
export async function settleRoom(
  ground: MatrixGround,
  { room, verdict }: { readonly room: RoomRecord; readonly verdict: PeerVerdict },
  signal: AbortSignal,
): Promise<void> {
  const found = await contextOf(ground, { room, peerId: verdict.userId }, signal);
  ground.shelf.changeRoom(room.id, (now) => {
    // The events just read are the newest, whatever a sync said before.
    const seen = addSeen(now, { events: found.newest, isAfterGap: !found.isWhole });
    return { ...now, ...seen, notes: withContext(ground, { room: now, verdict, context: found.context }) };
  });
  await keepPeerNote(ground, room.id, signal);
}

interface Learned {
  readonly room: RoomRecord;
  readonly verdict: PeerVerdict;
  readonly context: string;
}

function withContext(ground: MatrixGround, { room, verdict, context }: Learned): RoomRecord['notes'] {
  const { notes } = room;
  const known = notes.peer;
  if (known !== undefined && (known.context !== '' || context === '')) return notes;
  const peer = { ...(known ?? noteFor(ground, room, verdict)), context };
  return { ...notes, peer, behind: withKind(notes.behind, 'peer') };
}

/** Writes the note about the peer of a room as the book has it, when the server has another. */
export async function keepPeerNote(ground: MatrixGround, roomId: string, signal: AbortSignal): Promise<void> {
  const { peer, behind = [] } = ground.shelf.book().rooms.get(roomId)?.notes ?? {};
  if (peer === undefined || !behind.includes('peer')) return;
  await ground.data.put({ key: PEER_KEY, room: roomId, value: { ...peer } }, signal);
  ground.shelf.changeRoom(roomId, (now) => ({
    ...now,
    notes: { ...now.notes, behind: now.notes.behind.filter((kind) => kind !== 'peer') },
  }));
}

export function noteFor(
  { shelf, selfId }: MatrixGround,
  room: RoomRecord,
  { userId, introducerId, status }: PeerVerdict,
): StoredPeer {
  return {
    peer_name: nameOf(userId),
    peer_id: userId,
    context: '',
    introduced_by: nameOf(introducerId),
    introduced_by_id: introducerId,
    introduced_at: isoTime(noteTime(shelf.book(), { room, userId, selfId })),
    status,
    room_id: room.id,
  };
}

export function withKind(kinds: readonly NoteKind[], kind: NoteKind): readonly NoteKind[] {
  return kinds.includes(kind) ? kinds : [...kinds, kind];
}

/** Who may not read what was said before it came knows its peer all the same. */
async function contextOf(
  ground: MatrixGround,
  wanted: { readonly room: RoomRecord; readonly peerId: string },
  signal: AbortSignal,
): Promise<FoundContext> {
  try {
    return await findContext(ground, wanted, signal);
  } catch (error) {
    if (!(error instanceof PeerError) || error.code !== 'peers-forbidden') throw error;
    ground.warn(`what was said in ${wanted.room.id} cannot be read: ${error.message}`);
    return { context: '', newest: [], isWhole: false };
  }
}
