// Owns what an event of state changes in a room. Knows no wire. Pure. Invariant: encryption is never taken back, creation never changed.
import { objectAt, textAt } from '../events/json-access.ts';
import type { RoomEvent } from '../events/room-event.ts';
import type { Creation, Membership, RoomRecord } from './room-book.ts';

/** Keys in the creation event of rooms that we make. */
export const DIRECT_KEY = 'social.awareness.direct';
export const MARK_KEY = 'social.awareness.introduction';

/** Applies events in their order; those that are no state of ours are passed over. */
export function applyState(room: RoomRecord, events: readonly RoomEvent[]): RoomRecord {
  const members = events.filter(isMember);
  const creation = room.creation ?? creationIn(events);
  const encryption = encryptionIn(room, events);
  return {
    ...room,
    ...(creation === undefined ? {} : { creation }),
    ...(encryption === undefined ? {} : { encryption }),
    members: members.length === 0 ? room.members : withMembers(room.members, members),
  };
}

function isMember(event: RoomEvent): boolean {
  // Whoever is named counts as somebody who may read, also by an id that is none.
  return event.type === 'm.room.member' && event.stateKey !== undefined && event.stateKey !== '';
}

function withMembers(before: RoomRecord['members'], events: readonly RoomEvent[]): RoomRecord['members'] {
  const members = new Map(before);
  for (const { stateKey = '', content } of events) members.set(stateKey, membershipOf(textAt(content, 'membership')));
  return members;
}

function membershipOf(value: string | undefined): Membership {
  return value === 'join' || value === 'invite' ? value : 'gone';
}

function creationIn(events: readonly RoomEvent[]): Creation | undefined {
  const event = events.find(({ type, stateKey }) => type === 'm.room.create' && stateKey === '');
  if (event === undefined) return undefined;
  const mark = textAt(event.content, MARK_KEY);
  return {
    sender: event.sender,
    at: event.at,
    isDirect: event.content[DIRECT_KEY] === true,
    ...(mark === undefined ? {} : { mark }),
  };
}

/** Settings without an algorithm count when there are no others: whatever is sent then is refused, never clear. */
function encryptionIn(room: RoomRecord, events: readonly RoomEvent[]): RoomRecord['encryption'] {
  const found = events.filter(({ type, stateKey }) => type === 'm.room.encryption' && stateKey === '');
  const usable = found.findLast(({ content }) => typeof content.algorithm === 'string');
  return usable?.content ?? room.encryption ?? (found.length === 0 ? undefined : objectAt(found[0]?.content));
}
