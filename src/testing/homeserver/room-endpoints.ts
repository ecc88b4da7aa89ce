// Owns the endpoints of rooms: opening them, who is in them, reading (timeline, state, members, single events) and writing; each transaction of a
// device takes effect once. To somebody outside, a room that there is not is as a room that they may not see.

import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import {
  Answer,
  neededText,
  numberQuery,
  objectField,
  once,
  type Route,
  type SignedCall,
  textField,
  textList,
} from './calls.ts';
import {
  appendEvent,
  clientEvent,
  createRoom,
  type InitialState,
  inviteUser,
  joinRoom,
  leaveRoom,
  noServers,
  removeUser,
} from './room-events.ts';
import { type EventFilter, parseFilterText, readableUntil, readEventFilter } from './room-rules.ts';
import {
  badRequest,
  forbidden,
  MatrixFailure,
  membershipOf,
  type Room,
  type RoomState,
  readStreamToken,
  type StoredEvent,
  streamToken,
} from './world.ts';

export const roomRoutes: readonly Route[] = [
  { method: 'POST', path: 'createRoom', signed: create },
  { method: 'POST', path: 'join/:room', emptyBody: true, signed: join },
  { method: 'POST', path: 'rooms/:room/join', emptyBody: true, signed: join },
  { method: 'POST', path: 'rooms/:room/leave', emptyBody: true, signed: leave },
  { method: 'POST', path: 'rooms/:room/invite', signed: invite },
  { method: 'POST', path: 'rooms/:room/kick', signed: (call) => remove(call, 'kick') },
  { method: 'POST', path: 'rooms/:room/ban', signed: (call) => remove(call, 'ban') },
  { method: 'POST', path: 'rooms/:room/unban', signed: (call) => remove(call, 'unban') },
  { method: 'GET', path: 'rooms/:room/messages', signed: messages },
  { method: 'GET', path: 'rooms/:room/members', signed: members },
  { method: 'GET', path: 'rooms/:room/joined_members', signed: joinedMembers },
  { method: 'GET', path: 'rooms/:room/state', signed: state },
  { method: 'GET', path: 'joined_rooms', signed: joinedRooms },
  { method: 'PUT', path: 'rooms/:room/send/:type/:txn', signed: send },
  { method: 'PUT', path: 'rooms/:room/state/:type', signed: putState },
  { method: 'PUT', path: 'rooms/:room/state/:type/:key', signed: putState },
  { method: 'PUT', path: 'rooms/:room/redact/:event/:txn', signed: redact },
];

/** @throws MatrixFailure 400 M_INVALID_PARAM for what is no `@name:server` */
function checkUserId(userId: string): string {
  if (!isUserId(userId)) throw badRequest('M_INVALID_PARAM', `${userId} is no user id`);
  return userId;
}

function isUserId(text: string): boolean {
  return /^@[^:]*:.+$/.test(text);
}

function knownRoom(call: SignedCall, refusal: () => MatrixFailure = () => noPreview(call)): Room {
  const room = call.world.rooms.get(call.path.room ?? '');
  if (!room) throw refusal();
  return room;
}

function noPreview({ account, path }: SignedCall): MatrixFailure {
  return forbidden(`User ${account.userId} not in room ${path.room}, and room previews are disabled`);
}

const PRESETS = ['private_chat', 'trusted_private_chat', 'public_chat'];

function create({ world, account, body }: SignedCall): JsonObject {
  const visibility = textField(body, 'visibility') ?? 'private';
  const preset = textField(body, 'preset') ?? (visibility === 'public' ? 'public_chat' : 'private_chat');
  if (!PRESETS.includes(preset)) throw badRequest('M_BAD_JSON', `'${preset}' is not a valid preset`);
  const room = createRoom(world, {
    creator: account.userId,
    version: textField(body, 'room_version') ?? world.settings.roomVersion,
    preset,
    invite: textList(body, 'invite').map(checkInvitee),
    isDirect: body.is_direct === true,
    initialState: initialState(body.initial_state),
    more: {
      name: textField(body, 'name'),
      topic: textField(body, 'topic'),
      creationContent: objectField(body, 'creation_content'),
      powerLevels: objectField(body, 'power_level_content_override'),
    },
  });
  return { room_id: room.id };
}

function checkInvitee(userId: string): string {
  if (!isUserId(userId)) throw badRequest('M_UNKNOWN', `Invalid user_id: ${userId}`);
  return userId;
}

function initialState(value: JsonValue | undefined): readonly InitialState[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw badRequest('M_BAD_JSON', "'initial_state' must be a list");
  return value.map((item) => {
    if (!isJsonObject(item)) throw badRequest('M_BAD_JSON', "'initial_state' must hold objects");
    return {
      type: neededText(item, 'type'),
      stateKey: textField(item, 'state_key') ?? '',
      content: objectField(item, 'content'),
    };
  });
}

function join(call: SignedCall): JsonObject {
  const { world, account, body, path } = call;
  const roomId = path.room ?? '';
  if (!roomId.startsWith('!')) throw badRequest('M_UNKNOWN', `${roomId} was not legal room ID or room alias`);
  const room = world.rooms.get(roomId);
  if (!room) throw noServers();
  joinRoom(world, room, account.userId, textField(body, 'reason'));
  return { room_id: roomId };
}

function leave(call: SignedCall): JsonObject {
  const room = knownRoom(call, () => new MatrixFailure(404, 'M_UNKNOWN', 'Not a known room'));
  leaveRoom(call.world, room, call.account.userId, textField(call.body, 'reason'));
  return {};
}

function invite(call: SignedCall): JsonObject {
  const target = checkUserId(neededText(call.body, 'user_id'));
  inviteUser(call.world, memberRoom(call), {
    sender: call.account.userId,
    target,
    reason: textField(call.body, 'reason'),
  });
  return {};
}

function remove(call: SignedCall, act: 'kick' | 'ban' | 'unban'): JsonObject {
  const target = checkUserId(neededText(call.body, 'user_id'));
  const reason = textField(call.body, 'reason');
  removeUser(call.world, memberRoom(call), act, { sender: call.account.userId, target, reason });
  return {};
}

function memberRoom(call: SignedCall): Room {
  return knownRoom(call, () => forbidden(`User ${call.account.userId} not in room ${call.path.room}`));
}

export interface PageRequest {
  readonly userId: string;
  readonly backwards: boolean;
  /** Stream positions; undefined: the end or the beginning of the room, by direction. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly limit: number;
  readonly filter: EventFilter;
}

export interface Page {
  readonly events: readonly StoredEvent[];
  readonly start: number;
  /** Undefined: there is no more. */
  readonly end: number | undefined;
}

/** @throws MatrixFailure 403 M_FORBIDDEN */
function readMessages(room: Room, request: PageRequest): Page {
  const until = readableUntil(room, request.userId);
  const { backwards, from, limit, filter } = request;
  const start = Math.min(from ?? (backwards ? room.lastPosition : 0), until);
  const stretch = stretchOf(room, { ...request, from: start }).filter((stored) => stored.position <= until);
  const fitting = stretch.filter(({ event }) => filter.allows(event));
  const page = fitting.slice(0, limit);
  const last = page.at(-1);
  // As Synapse: only a page that nothing of the store falls into has no end.
  const end = last && (fitting.length > limit ? positionAfter(last, backwards) : edgeOf(stretch, last, backwards));
  return { events: page, start, end };
}

/** Events between the two places, in the direction of reading. */
function stretchOf(room: Room, { backwards, from = 0, to }: PageRequest): readonly StoredEvent[] {
  if (!backwards) {
    const after = room.timeline.slice(room.indexAfter(from));
    return to === undefined ? after : after.filter(({ position }) => position <= to);
  }
  const before = room.timeline.slice(to === undefined ? 0 : room.indexAfter(to), room.indexAfter(from));
  return before.reverse();
}

function positionAfter(stored: StoredEvent, backwards: boolean): number {
  return backwards ? stored.position - 1 : stored.position;
}

function edgeOf(stretch: readonly StoredEvent[], last: StoredEvent, backwards: boolean): number {
  return positionAfter(stretch.at(-1) ?? last, backwards);
}

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
  const { room, state: readable } = readableState(call);
  const { membership } = call.query;
  const isWanted = ({ event }: StoredEvent) =>
    event.type === 'm.room.member' && (membership === undefined || membershipOf(event) === membership);
  const found = [...readable.values()].filter(isWanted);
  return { chunk: found.map((stored) => clientEvent(room, stored, call.device.id)) };
}

function joinedMembers(call: SignedCall): JsonObject {
  const room = knownRoom(call);
  if (room.membership(call.account.userId) !== 'join')
    throw forbidden(`User ${call.account.userId} not in room ${room.id}`);
  const joined = room.members('join').map((id) => [id, { display_name: null, avatar_url: null }] as const);
  return { joined: Object.fromEntries(joined) };
}

function state(call: SignedCall): Answer {
  const { room, state: readable } = readableState(call);
  return new Answer(
    200,
    [...readable.values()].map((stored) => clientEvent(room, stored, call.device.id)),
  );
}

function joinedRooms({ account }: SignedCall): JsonObject {
  const rooms = [...account.rooms.values()].filter((room) => room.membership(account.userId) === 'join');
  return { joined_rooms: rooms.map((room) => room.id) };
}

function readableState(call: SignedCall): { readonly room: Room; readonly state: RoomState } {
  const room = knownRoom(call);
  return { room, state: room.stateAt(readableUntil(room, call.account.userId)) };
}

function send(call: SignedCall): JsonObject {
  const { type = '', txn = '' } = call.path;
  return once(call, `send ${call.path.room} ${type} ${txn}`, () => add(call, { type, transactionId: txn }));
}

function putState(call: SignedCall): JsonObject {
  const { type = '', key = '' } = call.path;
  if (type === 'm.room.member' && !['join', 'invite', 'leave', 'ban'].includes(String(call.body.membership))) {
    throw badRequest('M_BAD_JSON', 'A membership is needed');
  }
  return add(call, { type, stateKey: key });
}

function redact(call: SignedCall): JsonObject {
  const { event = '', txn = '' } = call.path;
  const wanted = { type: 'm.room.redaction', transactionId: txn, redacts: event };
  return once(call, `redact ${call.path.room} ${event} ${txn}`, () => add(call, wanted));
}

interface Wanted {
  readonly type: string;
  readonly stateKey?: string;
  readonly transactionId?: string;
  readonly redacts?: string;
}

function add(call: SignedCall, { type, stateKey, transactionId, redacts }: Wanted): JsonObject {
  const room: Room = knownRoom(call, () => forbidden(`User ${call.account.userId} not in room ${call.path.room}`));
  const stored = appendEvent(call.world, room, {
    type,
    sender: call.account.userId,
    content: call.body,
    stateKey,
    redacts,
    ...(transactionId !== undefined && { sent: { deviceId: call.device.id, transactionId } }),
  });
  return { event_id: stored.event.event_id };
}
