// Owns the endpoints that open rooms and change who is in them.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import {
  banUser,
  inviteUser,
  joinRoom,
  kickUser,
  leaveRoom,
  type Removal,
  unbanUser,
} from '../rooms/change-membership.ts';
import { createRoom, type InitialState } from '../rooms/create-room.ts';
import type { Room } from '../store/room.ts';
import type { World } from '../store/world.ts';
import type { Route, SignedCall } from '../wire/call.ts';
import { badRequest, forbidden, MatrixFailure, notFound } from '../wire/matrix-failure.ts';
import { checkUserId, isUserId, neededText, objectField, textField, textList } from './fields.ts';
import { knownRoom } from './known-room.ts';

export const roomMembershipRoutes: readonly Route[] = [
  { method: 'POST', path: 'createRoom', signed: create },
  { method: 'POST', path: 'join/:room', emptyBody: true, signed: join },
  { method: 'POST', path: 'rooms/:room/join', emptyBody: true, signed: join },
  { method: 'POST', path: 'rooms/:room/leave', emptyBody: true, signed: leave },
  { method: 'POST', path: 'rooms/:room/forget', emptyBody: true, signed: forget },
  { method: 'POST', path: 'rooms/:room/invite', signed: invite },
  { method: 'POST', path: 'rooms/:room/kick', signed: (call) => remove(call, kickUser) },
  { method: 'POST', path: 'rooms/:room/ban', signed: (call) => remove(call, banUser) },
  { method: 'POST', path: 'rooms/:room/unban', signed: (call) => remove(call, unbanUser) },
  { method: 'GET', path: 'directory/room/:alias', open: ({ world, path }) => lookUp(world, path.alias ?? '') },
];

const PRESETS = ['private_chat', 'trusted_private_chat', 'public_chat'];

function create({ world, account, body }: SignedCall): JsonObject {
  const visibility = textField(body, 'visibility') ?? 'private';
  const preset = textField(body, 'preset') ?? (visibility === 'public' ? 'public_chat' : 'private_chat');
  if (!PRESETS.includes(preset)) throw badRequest('M_BAD_JSON', `'${preset}' is not a valid preset`);
  const local = textField(body, 'room_alias_name');
  const alias = local === undefined ? undefined : `#${local}:${world.settings.serverName}`;
  if (alias !== undefined && world.aliases.has(alias)) throw badRequest('M_ROOM_IN_USE', 'Room alias already taken');
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
      alias,
      creationContent: objectField(body, 'creation_content'),
      powerLevels: objectField(body, 'power_level_content_override'),
    },
  });
  if (alias !== undefined) world.aliases.set(alias, room.id);
  return { room_id: room.id, ...(alias !== undefined && { room_alias: alias }) };
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
  const wanted = path.room ?? '';
  if (!/^[!#]/.test(wanted)) throw badRequest('M_UNKNOWN', `${wanted} was not legal room ID or room alias`);
  const roomId = wanted.startsWith('#') ? String(lookUp(world, wanted).room_id) : wanted;
  const room = world.rooms.get(roomId);
  if (!room)
    throw new MatrixFailure(
      404,
      'M_UNKNOWN',
      "Can't join remote room because no servers that are in the room have been provided.",
    );
  joinRoom(world, room, account.userId, textField(body, 'reason'));
  return { room_id: roomId };
}

function leave(call: SignedCall): JsonObject {
  const room = knownRoom(call, () => new MatrixFailure(404, 'M_UNKNOWN', 'Not a known room'));
  leaveRoom(call.world, room, call.account.userId, textField(call.body, 'reason'));
  return {};
}

function forget(call: SignedCall): JsonObject {
  const room = knownRoom(call, () => badRequest('M_UNKNOWN', 'Unknown room'));
  const membership = room.membership(call.account.userId);
  if (membership !== 'leave' && membership !== 'ban') {
    throw badRequest('M_UNKNOWN', `User ${call.account.userId} is in room ${room.id}`);
  }
  room.forgottenBy.add(call.account.userId);
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

function remove(call: SignedCall, act: (world: World, room: Room, removal: Removal) => void): JsonObject {
  const target = checkUserId(neededText(call.body, 'user_id'));
  act(call.world, memberRoom(call), { sender: call.account.userId, target, reason: textField(call.body, 'reason') });
  return {};
}

function memberRoom(call: SignedCall): Room {
  return knownRoom(call, () => forbidden(`User ${call.account.userId} not in room ${call.path.room}`));
}

function lookUp(world: World, alias: string): JsonObject {
  const roomId = world.aliases.get(alias);
  if (roomId === undefined) throw notFound(`Room alias ${alias} not found`);
  return { room_id: roomId, servers: [world.settings.serverName] };
}
