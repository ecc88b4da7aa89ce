// Owns which events of a room a person may read, by membership and history visibility, as Synapse decides it. Knows no endpoint.
import type { Room } from '../store/room.ts';
import { membershipOf, type RoomEvent, type StoredEvent } from '../store/room-event.ts';
import { forbidden } from '../wire/matrix-failure.ts';

/**
 * How far somebody may read: to the end, or to their own leaving. Synapse lets neither invited nor banned ones read at all.
 * @throws MatrixFailure 403 M_FORBIDDEN
 */
export function readableUntil(room: Room, userId: string): number {
  const own = room.memberEvent(userId);
  const membership = membershipOf(own?.event);
  if (membership === 'join') return Number.POSITIVE_INFINITY;
  if (own && membership === 'leave' && !room.forgottenBy.has(userId)) return own.position;
  if (room.stateEvent('m.room.history_visibility')?.content.history_visibility === 'world_readable') {
    return Number.POSITIVE_INFINITY;
  }
  throw forbidden(`User ${userId} not in room ${room.id}, and room previews are disabled`);
}

/** A test for single events; takes the whole timeline in once unless every event of it is for all members. */
export function visibleTo(room: Room, userId: string): (stored: StoredEvent) => boolean {
  if (!hasStrictHistory(room)) return () => true;
  const visible = new Set<StoredEvent>();
  let before: Standing = { visibility: 'shared', membership: 'leave' };
  for (const stored of room.timeline) {
    const after = standingAfter(before, stored.event, userId);
    if (mayRead(before, after)) visible.add(stored);
    before = after;
  }
  return (stored) => visible.has(stored);
}

interface Standing {
  readonly visibility: unknown;
  readonly membership: string;
}

function standingAfter(before: Standing, event: RoomEvent, userId: string): Standing {
  if (isVisibility(event)) return { ...before, visibility: event.content.history_visibility };
  const own = event.type === 'm.room.member' && event.state_key === userId;
  return own ? { ...before, membership: membershipOf(event) ?? 'leave' } : before;
}

/** One's own leaving is always seen, so that the room can go away; a change of visibility by whoever saw what was before it. */
function mayRead(before: Standing, { visibility, membership }: Standing): boolean {
  if (isLax(visibility) || (visibility !== before.visibility && isLax(before.visibility)) || membership === 'join')
    return true;
  if (visibility === 'invited' && membership === 'invite') return true;
  return membership === 'leave' && (before.membership === 'join' || before.membership === 'invite');
}

function hasStrictHistory(room: Room): boolean {
  return room.timeline.some(({ event }) => isVisibility(event) && !isLax(event.content.history_visibility));
}

function isVisibility(event: RoomEvent): boolean {
  return event.type === 'm.room.history_visibility' && event.state_key === '';
}

function isLax(visibility: unknown): boolean {
  return visibility !== 'joined' && visibility !== 'invited';
}
