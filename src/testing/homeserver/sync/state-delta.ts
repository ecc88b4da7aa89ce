// Owns which state goes beside a stretch of timeline in `/sync`, so that state and then timeline give the state of the room. Pure.
// As in Synapse: an unbroken stretch needs none, even when the filter took state events out behind its last event.
import type { Room } from '../store/room.ts';
import { type StoredEvent, stateNameOf } from '../store/room-event.ts';
import type { SyncFilter } from './sync-filter.ts';
import type { TimelineBatch } from './timeline-batch.ts';

export interface StateRequest {
  readonly room: Room;
  readonly batch: TimelineBatch;
  readonly filter: SyncFilter;
  readonly userId: string;
  readonly until: number;
  /** Undefined: all of it. */
  readonly since: number | undefined;
}

export function stateDelta(request: StateRequest): readonly StoredEvent[] {
  const { room, batch, until, since } = request;
  if (since !== undefined && !batch.limited && isUnbroken(room, batch, since)) return [];
  const end = room.stateAt(until);
  const first = batch.events[0];
  const start = first ? room.stateAt(first.position) : end;
  const previous = new Set(since === undefined ? [] : room.stateAt(since).values());
  // Of one piece of state only the last one counts as handed out: Synapse repeats earlier ones of the stretch beside it.
  const handedOut = new Set(new Map(batch.events.map((stored) => [stateNameOf(stored.event), stored])).values());
  const delta = new Map<string, StoredEvent>();
  for (const stored of [...start.values(), ...end.values()]) {
    const name = stateNameOf(stored.event);
    if (name !== undefined && !previous.has(stored) && !handedOut.has(stored)) delta.set(name, stored);
  }
  return [...delta.values()].filter((stored) => isWanted(request, stored));
}

function isUnbroken(room: Room, batch: TimelineBatch, since: number): boolean {
  const first = room.indexAfter(since);
  return batch.events.every((stored, index) => room.timeline[first + index] === stored);
}

function isWanted({ filter, batch, userId, since }: StateRequest, { event }: StoredEvent): boolean {
  if (!filter.state.allows(event)) return false;
  if (!filter.lazyMembers || since !== undefined || event.type !== 'm.room.member') return true;
  return event.state_key === userId || batch.events.some((stored) => stored.event.sender === event.state_key);
}
