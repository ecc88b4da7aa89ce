// Owns which rooms one `/sync` speaks of, and in which section each stands: joined, invited, left. As Synapse sorts them. Pure.
import type { Account } from '../store/account.ts';
import type { Room } from '../store/room.ts';
import { membershipOf, type StoredEvent, stateName } from '../store/room-event.ts';
import type { SyncFilter } from './sync-filter.ts';

export interface RoomEntry {
  readonly room: Room;
  readonly section: 'join' | 'leave';
  readonly until: number;
  readonly newlyJoined: boolean;
}

export interface RoomChanges {
  readonly entries: readonly RoomEntry[];
  readonly invites: readonly { readonly room: Room; readonly invite: StoredEvent }[];
  readonly newlyLeft: readonly Room[];
}

export interface ChangesRequest {
  readonly account: Account;
  readonly filter: SyncFilter;
  readonly since: number | undefined;
  readonly now: number;
}

export function roomChanges(request: ChangesRequest): RoomChanges {
  const collected: Collected = { entries: [], invites: [], newlyLeft: [] };
  for (const room of request.account.rooms.values()) {
    if (!request.filter.rooms.allowsRoom(room.id) || room.forgottenBy.has(request.account.userId)) continue;
    if (request.since === undefined) sortFirst(request, room, collected);
    else sortLater({ ...request, since: request.since }, room, collected);
  }
  return collected;
}

interface Collected {
  readonly entries: RoomEntry[];
  readonly invites: { readonly room: Room; readonly invite: StoredEvent }[];
  readonly newlyLeft: Room[];
}

function sortFirst({ account, filter, now }: ChangesRequest, room: Room, { entries, invites }: Collected): void {
  const own = room.memberEvent(account.userId);
  const membership = membershipOf(own?.event);
  if (!own) return;
  if (membership === 'join') entries.push({ room, section: 'join', until: now, newlyJoined: false });
  else if (membership === 'invite') invites.push({ room, invite: own });
  // Rooms that somebody was removed from are told even to a client that did not ask for left ones.
  else if (filter.includeLeave || membership === 'ban' || own.event.sender !== account.userId) {
    entries.push({ room, section: 'leave', until: own.position, newlyJoined: false });
  }
}

type LaterRequest = ChangesRequest & { readonly since: number };

function sortLater(request: LaterRequest, room: Room, collected: Collected): void {
  const { account, since, now } = request;
  const isIn = room.membership(account.userId) === 'join';
  if (room.lastPosition <= since && !(isIn && hasNewData(account, room, since))) return;
  const changes = ownChanges(room, account.userId, since);
  const wasIn = membershipOf(room.stateAt(since).get(stateName('m.room.member', account.userId))?.event) === 'join';
  const others = changes.filter(({ event }) => membershipOf(event) !== 'join');
  if (isIn) {
    const newlyJoined = others.length > 0 || (changes.length > 0 && !wasIn);
    collected.entries.push({ room, section: 'join', until: now, newlyJoined });
  } else if (others.length > 0) {
    sortOut(room, { others, wasIn, joinedMeanwhile: others.length < changes.length }, collected);
  }
}

interface OwnChanges {
  readonly others: readonly StoredEvent[];
  readonly wasIn: boolean;
  readonly joinedMeanwhile: boolean;
}

/** They are not in it now. */
function sortOut(room: Room, { others, wasIn, joinedMeanwhile }: OwnChanges, collected: Collected): void {
  if (wasIn || joinedMeanwhile) collected.newlyLeft.push(room);
  const last = others.at(-1);
  if (last && membershipOf(last.event) === 'invite') collected.invites.push({ room, invite: last });
  const leaving = others.findLast(({ event }) => ['leave', 'ban'].includes(membershipOf(event) ?? ''));
  if (!leaving) return;
  const newlyJoined = joinedMeanwhile && !wasIn;
  collected.entries.push({ room, section: 'leave', until: leaving.position, newlyJoined });
}

function hasNewData(account: Account, room: Room, since: number): boolean {
  return [...(account.roomData.get(room.id)?.values() ?? [])].some(({ position }) => position > since);
}

function ownChanges(room: Room, userId: string, since: number): readonly StoredEvent[] {
  return room.timeline
    .slice(room.indexAfter(since))
    .filter(({ event }) => event.type === 'm.room.member' && event.state_key === userId);
}
