// Owns which rooms give a peer, and whom (decision 0023; notes 6, B8, B9, B17). Knows no wire. Pure.
// Invariant: nobody takes the place of a peer that is known, and a room in which others would read along gives no new one.
import type { Peer } from '../../peers/peer.ts';
import { isUserId } from '../events/user-id.ts';
import { presentMembers, type RoomRecord } from './room-book.ts';

export interface PeerVerdict {
  readonly kind: 'peer';
  readonly userId: string;
  readonly introducerId: string;
  readonly status: Peer['status'];
  /** Somebody who is neither of the two nor the introducer can read what is said. */
  readonly isShared: boolean;
}

export interface NoPeerVerdict {
  readonly kind: 'none';
  /** For the owner. */
  readonly why: string;
  /** Worth telling: the owner may expect a peer here. */
  readonly isOdd: boolean;
}

export interface Judge {
  readonly selfId: string;
  /** Whether introductions of that user are accepted. */
  readonly isWelcome: (userId: string) => boolean;
}

export function judgeRoom(room: RoomRecord, { selfId, isWelcome }: Judge): PeerVerdict | NoPeerVerdict {
  const creator = room.creation?.sender;
  if (room.members.get(selfId) !== 'join') return none('we are not in it', true);
  if (creator === undefined) return none('who created it cannot be seen', true);
  if (creator === selfId && room.creation?.isDirect !== true) return none('we introduced others there', false);
  const note = room.notes.peer;
  if (note !== undefined && note.peer_id !== selfId)
    return peer(room, { userId: note.peer_id, introducerId: creator, selfId });
  if (creator !== selfId && !isWelcome(creator)) return none(`introductions of ${creator} are not accepted`, true);
  return judgeMembers(room, { creator, selfId });
}

function judgeMembers(room: RoomRecord, { creator, selfId }: { creator: string; selfId: string }) {
  const others = presentMembers(room).filter((userId) => userId !== selfId && userId !== creator);
  const [only] = others;
  if (others.length > 1) return none(`${others.length + 2} are in it, so what is said there would reach others`, true);
  if (only !== undefined && !isUserId(only)) return none('who was introduced there has no id that can be used', true);
  if (only !== undefined) return peer(room, { userId: only, introducerId: creator, selfId });
  if (creator === selfId) return none('nobody else is in it', false);
  const wasThere = [...room.members.keys()].some((userId) => userId !== selfId && userId !== creator);
  if (wasThere) return none('who was introduced there has left', true);
  if ((room.members.get(creator) ?? 'gone') === 'gone') return none('nobody else is in it', true);
  return peer(room, { userId: creator, introducerId: creator, selfId });
}

interface Pair {
  readonly userId: string;
  readonly introducerId: string;
  readonly selfId: string;
}

function peer(room: RoomRecord, { userId, introducerId, selfId }: Pair): PeerVerdict {
  const knownOnes = new Set([userId, selfId, introducerId, room.creation?.sender]);
  return {
    kind: 'peer',
    userId,
    introducerId,
    status: statusOf(room, userId),
    isShared: presentMembers(room).some((member) => !knownOnes.has(member)),
  };
}

function statusOf(room: RoomRecord, userId: string): Peer['status'] {
  const membership = room.members.get(userId) ?? 'gone';
  if (membership === 'gone') return 'left';
  return membership === 'join' ? 'active' : 'invited';
}

function none(why: string, isOdd: boolean): NoPeerVerdict {
  return { kind: 'none', why, isOdd };
}
