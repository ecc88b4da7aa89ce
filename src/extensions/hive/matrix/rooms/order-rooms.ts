// Owns which of several rooms with one peer counts: where messages go, whose words are shown (R4.52). Knows no wire. Pure.
// Invariant: a talk stays in the room that we noted first; no later room of somebody else takes it over, however old it claims to be, and it
// never goes on in clear where it was encrypted.
import { parseTime } from '#base/clock.ts';
import type { PeerVerdict } from './judge-room.ts';
import type { RoomBook, RoomRecord } from './room-book.ts';

export interface PeerRoom {
  readonly room: RoomRecord;
  readonly verdict: PeerVerdict;
}

export interface RoomOrder {
  readonly selfId: string;
  /** Messages into encrypted rooms can be encrypted. */
  readonly canEncrypt: boolean;
}

export interface OrderedRooms {
  /** The first is the one that counts. */
  readonly rooms: readonly PeerRoom[];
  /** The peer could be reached in clear alone, and the talk with it was encrypted. */
  readonly isHeldBack: boolean;
}

/** Latest time that can be written down. */
const LAST_TIME = 8_640_000_000_000_000;

export function orderRooms(rooms: readonly PeerRoom[], order: RoomOrder): OrderedRooms {
  if (rooms.length < 2) return { rooms, isHeldBack: false };
  const sealed = rooms.filter(
    ({ room }) => room.encryption !== undefined && (order.canEncrypt || hasTalk(room, order.selfId)),
  );
  const byRank = compareRooms(order.selfId);
  const isStepBack = (one: PeerRoom) =>
    one.room.encryption === undefined &&
    sealed.some((other) => byRank(other, one) < 0 || hasTalk(other.room, order.selfId));
  const back = new Set(rooms.filter(isStepBack));
  const drawback = (one: PeerRoom) => (back.has(one) ? 8 : drawbackOf(one, order));
  const ordered = [...rooms].sort((a, b) => drawback(a) - drawback(b) || byRank(a, b));
  const isOver = ordered[0]?.verdict.status === 'left';
  return { rooms: ordered, isHeldBack: isOver && [...back].some(({ verdict }) => verdict.status !== 'left') };
}

/** A room that the peer left, that others read, or that we could not write to, comes after its like. */
function drawbackOf({ room, verdict }: PeerRoom, { selfId, canEncrypt }: RoomOrder): number {
  const isUnusable = room.encryption !== undefined && !canEncrypt && !hasTalk(room, selfId);
  return (verdict.status === 'left' ? 4 : 0) + (verdict.isShared ? 2 : 0) + (isUnusable ? 1 : 0);
}

/** Noted ones first, in the order in which we noted them; of others direct before introduced, encrypted before clear, then the oldest. */
export function compareRooms(selfId: string) {
  return (a: PeerRoom, b: PeerRoom): number => {
    const [first, second] = [rankOf(a, selfId), rankOf(b, selfId)];
    const at = first.findIndex((value, index) => value !== second[index]);
    if (at >= 0) return (first[at] ?? 0) - (second[at] ?? 0);
    return a.room.id < b.room.id ? -1 : 1;
  };
}

function rankOf({ room, verdict }: PeerRoom, selfId: string): readonly number[] {
  const created = room.creation?.at ?? 0;
  const noted = parseTime(room.notes.peer?.introduced_at ?? '');
  const isIntroduced = room.creation?.sender !== selfId && room.creation?.sender !== verdict.userId;
  const kind = [isIntroduced ? 1 : 0, room.encryption === undefined ? 1 : 0];
  return noted !== undefined || hasTalk(room, selfId) ? [0, noted ?? created, ...kind] : [1, ...kind, created];
}

/** Something of ours is there. Read marks are in every room of a peer, so they say nothing. */
function hasTalk({ notes, seen }: RoomRecord, selfId: string): boolean {
  return notes.summary !== undefined || seen.some(({ sender, isIntroduction }) => sender === selfId && !isIntroduction);
}

export interface Noting {
  readonly room: RoomRecord;
  readonly userId: string;
  readonly selfId: string;
}

/**
 * Epoch ms under which a room with that peer is noted: that of its creation, which its creator's server may forge, but never before what was
 * noted of the same peer earlier.
 */
export function noteTime({ rooms }: RoomBook, { room, userId, selfId }: Noting): number {
  const created = room.creation?.at ?? 0;
  if (hasTalk(room, selfId)) return created;
  let time = created;
  for (const { id, notes } of rooms.values())
    if (id !== room.id && notes.peer?.peer_id === userId)
      time = Math.max(time, (parseTime(notes.peer.introduced_at) ?? 0) + 1);
  return Math.min(time, LAST_TIME);
}
