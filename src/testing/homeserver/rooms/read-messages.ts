// Owns paging through the timeline of a room, back and forth. Knows no HTTP.
// Invariant: following `end` until there is none gives every readable event exactly once.
import type { Room } from '../store/room.ts';
import type { StoredEvent } from '../store/room-event.ts';
import type { EventFilter } from './event-filter.ts';
import { readableUntil, visibleTo } from './visibility.ts';

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
export function readMessages(room: Room, request: PageRequest): Page {
  const until = readableUntil(room, request.userId);
  const visible = visibleTo(room, request.userId);
  const { backwards, from, limit, filter } = request;
  const start = Math.min(from ?? (backwards ? room.lastPosition : 0), until);
  const stretch = stretchOf(room, { ...request, from: start }).filter((stored) => stored.position <= until);
  const fitting = stretch.filter(({ event }) => filter.allows(event));
  const page = fitting.slice(0, limit);
  const last = page.at(-1);
  // As Synapse: only a page that nothing of the store falls into has no end.
  const end = last && (fitting.length > limit ? positionAfter(last, backwards) : edgeOf(stretch, last, backwards));
  return { events: page.filter(visible), start, end };
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
