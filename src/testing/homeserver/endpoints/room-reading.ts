// Owns the endpoints that read a room: timeline, state, members, single events.
import type { JsonObject } from '#base/json.ts';
import { clientEvent } from '../rooms/client-event.ts';
import { parseFilterText, readEventFilter } from '../rooms/event-filter.ts';
import { readMessages } from '../rooms/read-messages.ts';
import { readableUntil, visibleTo } from '../rooms/visibility.ts';
import type { Room, RoomState } from '../store/room.ts';
import { membershipOf, stateName } from '../store/room-event.ts';
import { readStreamToken, streamToken } from '../store/stream-token.ts';
import { Answer, type Route, type SignedCall } from '../wire/call.ts';
import { badRequest, forbidden, notFound } from '../wire/matrix-failure.ts';
import { numberQuery } from './fields.ts';
import { knownRoom } from './known-room.ts';

export const roomReadingRoutes: readonly Route[] = [
  { method: 'GET', path: 'rooms/:room/messages', signed: messages },
  { method: 'GET', path: 'rooms/:room/members', signed: members },
  { method: 'GET', path: 'rooms/:room/joined_members', signed: joinedMembers },
  { method: 'GET', path: 'rooms/:room/state', signed: state },
  { method: 'GET', path: 'rooms/:room/state/:type', signed: stateContent },
  { method: 'GET', path: 'rooms/:room/state/:type/:key', signed: stateContent },
  { method: 'GET', path: 'rooms/:room/event/:event', signed: oneEvent },
  { method: 'GET', path: 'joined_rooms', signed: joinedRooms },
];

const MAX_PAGE = 1000;

function messages(call: SignedCall): JsonObject {
  const { query, account, device } = call;
  const direction = query.dir ?? (call.world.settings.strict ? '' : 'f');
  if (direction !== 'b' && direction !== 'f')
    throw badRequest('M_INVALID_PARAM', "Query parameter 'dir' must be one of b, f");
  const room = knownRoom(call);
  const filter = readEventFilter(parseFilterText(query.filter));
  const page = readMessages(room, {
    userId: account.userId,
    backwards: direction === 'b',
    from: place(query.from),
    to: place(query.to),
    limit: Math.min(numberQuery(query, 'limit') ?? 10, MAX_PAGE),
    filter,
  });
  return {
    chunk: page.events.map((stored) => clientEvent(room, stored, device.id)),
    start: streamToken(page.start),
    ...(page.end !== undefined && { end: streamToken(page.end) }),
  };
}

function place(token: string | undefined): number | undefined {
  return token === undefined || token === '' ? undefined : readStreamToken(token);
}

function members(call: SignedCall): JsonObject {
  const { query, device } = call;
  const { room, state: readable } = readableState(call);
  const at = place(query.at);
  const chunk: JsonObject[] = [];
  for (const stored of (at === undefined ? readable : room.stateAt(at)).values()) {
    const membership = membershipOf(stored.event);
    if (stored.event.type !== 'm.room.member') continue;
    if (query.membership !== undefined && membership !== query.membership) continue;
    if (query.not_membership !== undefined && membership === query.not_membership) continue;
    chunk.push(clientEvent(room, stored, device.id));
  }
  return { chunk };
}

function joinedMembers(call: SignedCall): JsonObject {
  const room = knownRoom(call);
  if (room.membership(call.account.userId) !== 'join')
    throw forbidden(`User ${call.account.userId} not in room ${room.id}`);
  const joined = room.members('join').map((id) => {
    const name = call.world.accounts.get(id)?.displayName ?? null;
    return [id, { display_name: name, avatar_url: null }] as const;
  });
  return { joined: Object.fromEntries(joined) };
}

function state(call: SignedCall): Answer {
  const { room, state: readable } = readableState(call);
  return new Answer(
    200,
    [...readable.values()].map((stored) => clientEvent(room, stored, call.device.id)),
  );
}

function stateContent(call: SignedCall): JsonObject {
  const { room, state: readable } = readableState(call);
  const stored = readable.get(stateName(call.path.type ?? '', call.path.key ?? ''));
  if (!stored) throw notFound('Event not found.');
  return call.query.format === 'event' ? clientEvent(room, stored, call.device.id) : stored.event.content;
}

function oneEvent(call: SignedCall): JsonObject {
  const room = knownRoom(call);
  const until = readableUntil(room, call.account.userId);
  const stored = room.find(call.path.event ?? '');
  if (!stored || stored.position > until || !visibleTo(room, call.account.userId)(stored)) {
    throw notFound('Event not found.');
  }
  return clientEvent(room, stored, call.device.id);
}

function joinedRooms({ account }: SignedCall): JsonObject {
  const rooms = [...account.rooms.values()].filter((room) => room.membership(account.userId) === 'join');
  return { joined_rooms: rooms.map((room) => room.id) };
}

function readableState(call: SignedCall): { readonly room: Room; readonly state: RoomState } {
  const room = knownRoom(call);
  return { room, state: room.stateAt(readableUntil(room, call.account.userId)) };
}
