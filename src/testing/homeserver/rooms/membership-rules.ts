// Owns which change of membership a room allows, in the order and with the words of Synapse. Knows no endpoint and changes nothing.
import type { Room } from '../store/room.ts';
import { forbidden } from '../wire/matrix-failure.ts';
import { namedLevel, powerOf } from './power.ts';

export interface MembershipChange {
  readonly sender: string;
  readonly target: string;
  readonly membership: string;
}

/** @throws MatrixFailure 403 M_FORBIDDEN */
export function checkMembership(room: Room, change: MembershipChange): void {
  const { sender, target, membership } = change;
  const own = room.membership(sender);
  if (membership === 'join') {
    checkJoin(room, change);
    return;
  }
  if (membership === 'leave' && sender === target && (own === 'invite' || own === 'knock')) return;
  if (own !== 'join') throw forbidden(`${sender} not in room ${room.id}.`);
  if (membership === 'invite') checkInvite(room, change);
  else if (membership === 'leave') checkLeave(room, change);
  else if (membership === 'ban') checkBan(room, change);
  else throw forbidden(`Unknown membership ${membership}`);
}

function checkJoin(room: Room, { sender, target }: MembershipChange): void {
  const current = room.membership(target);
  if (sender !== target) throw forbidden('Cannot force another user to join.');
  if (current === 'ban') throw forbidden('You are banned from this room');
  if (isCreatorsFirstJoin(room, sender)) return;
  const rule = room.stateEvent('m.room.join_rules')?.content.join_rule ?? 'invite';
  if (rule === 'public') return;
  if (current !== 'join' && current !== 'invite') throw forbidden('You are not invited to this room.');
}

function isCreatorsFirstJoin(room: Room, sender: string): boolean {
  return room.timeline.length === 1 && room.timeline[0]?.event.sender === sender;
}

function checkInvite(room: Room, { sender, target }: MembershipChange): void {
  const current = room.membership(target);
  if (current === 'ban') throw forbidden(`${target} is banned from the room`);
  if (current === 'join') throw forbidden(`${target} is already in the room.`);
  if (powerOf(room, sender) < namedLevel(room, 'invite')) {
    throw forbidden("You don't have permission to invite users");
  }
}

function checkLeave(room: Room, { sender, target }: MembershipChange): void {
  const power = powerOf(room, sender);
  if (room.membership(target) === 'ban' && power < namedLevel(room, 'ban')) {
    throw forbidden(`You cannot unban user ${target}.`);
  }
  if (target === sender) return;
  if (power < namedLevel(room, 'kick') || power <= powerOf(room, target)) {
    throw forbidden(`You cannot kick user ${target}.`);
  }
}

function checkBan(room: Room, { sender, target }: MembershipChange): void {
  const power = powerOf(room, sender);
  if (power < namedLevel(room, 'ban')) throw forbidden("You don't have permission to ban");
  if (power <= powerOf(room, target)) throw forbidden("You don't have permission to ban this user");
}
