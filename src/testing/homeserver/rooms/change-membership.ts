// Owns joining, inviting, leaving, removing and banning: one event each, the same one again when nothing changes. Knows no HTTP.
import { canonicalJson, type JsonObject } from '#base/json.ts';
import type { Room } from '../store/room.ts';
import type { World } from '../store/world.ts';
import { forbidden, MatrixFailure } from '../wire/matrix-failure.ts';
import { appendEvent } from './append-event.ts';

export interface Invitation {
  readonly sender: string;
  readonly target: string;
  readonly isDirect?: boolean;
  readonly reason?: string | undefined;
}

export interface Removal {
  readonly sender: string;
  readonly target: string;
  readonly reason?: string | undefined;
}

/** @throws MatrixFailure 403 M_FORBIDDEN; 404 when nobody is in the room any more */
export function joinRoom(world: World, room: Room, userId: string, reason?: string): void {
  if (room.membership(userId) === 'ban') throw badState('Cannot join user who was banned');
  // Synapse treats a room without anybody in it as a room of other servers.
  if (room.members('join').length === 0) {
    throw new MatrixFailure(
      404,
      'M_UNKNOWN',
      "Can't join remote room because no servers that are in the room have been provided.",
    );
  }
  change(world, room, { sender: userId, target: userId, membership: 'join', reason });
  room.forgottenBy.delete(userId);
}

/** @throws MatrixFailure 403 M_FORBIDDEN, 502 when the server of that person cannot be reached */
export function inviteUser(world: World, room: Room, { sender, target, isDirect, reason }: Invitation): void {
  if (room.membership(target) === 'ban') throw badState('Cannot invite user who was banned');
  if (!world.isLocal(target) && !world.accounts.has(target)) {
    throw new MatrixFailure(502, 'M_UNKNOWN', "Can't connect to the server of that user");
  }
  change(world, room, { sender, target, membership: 'invite', reason, more: isDirect ? { is_direct: true } : {} });
}

export function leaveRoom(world: World, room: Room, userId: string, reason?: string): void {
  change(world, room, { sender: userId, target: userId, membership: 'leave', reason });
}

export function kickUser(world: World, room: Room, { sender, target, reason }: Removal): void {
  const current = room.membership(target);
  if (current === 'ban') throw badState('Cannot kick user who was banned');
  if (current === undefined || current === 'leave') throw forbidden('The target user is not in the room');
  change(world, room, { sender, target, membership: 'leave', reason });
}

export function banUser(world: World, room: Room, { sender, target, reason }: Removal): void {
  change(world, room, { sender, target, membership: 'ban', reason });
}

export function unbanUser(world: World, room: Room, { sender, target, reason }: Removal): void {
  const current = room.membership(target);
  if (current !== 'ban') throw badState(`Cannot unban user who was not banned (membership=${current ?? 'None'})`);
  change(world, room, { sender, target, membership: 'leave', reason });
}

interface Change {
  readonly sender: string;
  readonly target: string;
  readonly membership: string;
  readonly reason: string | undefined;
  readonly more?: JsonObject;
}

function change(world: World, room: Room, { sender, target, membership, reason, more }: Change): void {
  const displayname = world.accounts.get(target)?.displayName;
  const profiled = membership === 'join' || membership === 'invite';
  const content: JsonObject = {
    membership,
    ...(profiled && displayname !== undefined && { displayname }),
    ...(reason !== undefined && { reason }),
    ...more,
  };
  const current = room.memberEvent(target)?.event;
  if (current?.sender === sender && canonicalJson(current.content) === canonicalJson(content)) return;
  appendEvent(world, room, { type: 'm.room.member', sender, stateKey: target, content });
}

function badState(message: string): MatrixFailure {
  return new MatrixFailure(403, 'M_BAD_STATE', message);
}
