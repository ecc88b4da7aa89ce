// Owns what the answer to a sync makes of the book. Knows no wire. Pure. Invariant: applying the same answer again changes nothing, and one
// that is malformed in parts is applied in all others (seed 004, on-demand sync).
import type { JsonObject } from '#base/json.ts';
import type { AccountData } from '../account-data/account-data.ts';
import { textAt } from '../events/json-access.ts';
import { applyState } from '../rooms/apply-state.ts';
import {
  EMPTY_BOOK,
  type Invite,
  newRoom,
  type RoomBook,
  type RoomRecord,
  withEncryptions,
} from '../rooms/room-book.ts';
import { addSeen } from '../rooms/seen-messages.ts';
import { applyRoomNotes, applySparks } from './apply-notes.ts';
import { readInviteState, readRoomNews, type SyncAnswer } from './read-sync.ts';

export interface SyncGround {
  readonly selfId: string;
  readonly open: AccountData['open'];
  /** The answer holds everything: what the book says and the answer does not is over. Sparks stay, and so does encryption. */
  readonly isWhole: boolean;
}

export function applySync(before: RoomBook, answer: SyncAnswer, ground: SyncGround): RoomBook {
  const base = ground.isWhole ? { ...EMPTY_BOOK, sparks: before.sparks, encrypted: before.encrypted } : before;
  const sparks = applySparks(base.sparks, answer.accountData, ground.open);
  if (!ground.isWhole && isQuiet(answer)) return sparks === before.sparks ? before : { ...before, sparks };
  const rooms = new Map(base.rooms);
  const invites = new Map(base.invites);
  for (const [id] of answer.left) {
    rooms.delete(id);
    invites.delete(id);
  }
  for (const [id, room] of answer.invited) {
    rooms.delete(id);
    invites.set(id, readInvite(id, room, ground.selfId));
  }
  for (const [id, room] of answer.joined) {
    invites.delete(id);
    rooms.set(id, applyRoom(rooms.get(id) ?? newRoom(id, before.encrypted), room, ground.open));
  }
  const spoken = answer.joined.flatMap(([id]) => rooms.get(id) ?? []);
  return { rooms, invites, sparks, encrypted: withEncryptions(before.encrypted, spoken) };
}

function isQuiet({ joined, invited, left }: SyncAnswer): boolean {
  return joined.length + invited.length + left.length === 0;
}

function applyRoom(before: RoomRecord, room: JsonObject, open: AccountData['open']): RoomRecord {
  const news = readRoomNews(room);
  const state = applyState(before, news.state);
  const seen = addSeen(state, { events: news.timeline, isAfterGap: news.isLimited });
  return applyRoomNotes({ ...state, ...seen }, news.accountData, open);
}

function readInvite(roomId: string, room: JsonObject, selfId: string): Invite {
  const events = readInviteState(room);
  const inviter = events.findLast(
    ({ type, stateKey, content }) =>
      type === 'm.room.member' && stateKey === selfId && textAt(content, 'membership') === 'invite',
  )?.sender;
  const creator = events.find(({ type, stateKey }) => type === 'm.room.create' && stateKey === '')?.sender;
  return {
    roomId,
    ...(inviter === undefined || inviter === '' ? {} : { inviter }),
    ...(creator === undefined ? {} : { creator }),
  };
}
