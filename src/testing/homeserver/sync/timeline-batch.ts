// Owns which stretch of a room's timeline one `/sync` hands out, when it says `limited`, and from where one pages further back.
// The bounds and their quirks are Synapse's: what filters take away counts as read. Pure.
import type { Room } from '../store/room.ts';
import type { StoredEvent } from '../store/room-event.ts';
import type { SyncFilter } from './sync-filter.ts';

export interface BatchRequest {
  readonly room: Room;
  readonly filter: SyncFilter;
  readonly visible: (stored: StoredEvent) => boolean;
  /** Last position that may be handed out. */
  readonly until: number;
  /** Undefined: the room is new to this client. */
  readonly since: number | undefined;
  /** They joined since then: the client is told that it knows no history. */
  readonly newlyJoined: boolean;
  /** A room that they have left: Synapse pages it even when little happened. */
  readonly left: boolean;
}

export interface TimelineBatch {
  readonly events: readonly StoredEvent[];
  readonly limited: boolean;
  /** Position right before the first of `events`. */
  readonly before: number;
}

const REPEATS = 5;

export function timelineBatch(request: BatchRequest): TimelineBatch {
  const { room, filter, until, since, newlyJoined, left } = request;
  const first = since === undefined || newlyJoined ? 0 : room.indexAfter(since);
  const end = room.indexAfter(until);
  const isShort = since !== undefined && !newlyJoined && !left && end - first <= filter.timelineLimit;
  if (isShort || filter.timeline.blocksAll) {
    const events = wanted(request, first, end);
    return { events, limited: false, before: (events[0]?.position ?? until + 1) - 1 };
  }
  return lastOf(request, first, end);
}

/** Reads portions from the end backwards until there are enough events, or too many portions. */
function lastOf(request: BatchRequest, first: number, end: number): TimelineBatch {
  const limit = request.filter.timelineLimit;
  const portion = Math.max(limit * 2, 10);
  let low = end;
  let events: readonly StoredEvent[] = [];
  for (let turn = 0; turn < REPEATS && low > first && events.length < limit; turn += 1) {
    const from = Math.max(first, low - portion);
    events = [...wanted(request, from, low), ...events];
    low = from;
  }
  const cut = events.length > limit;
  const kept = cut ? events.slice(events.length - limit) : events;
  const before = cut ? (kept[0]?.position ?? request.until + 1) - 1 : request.until;
  return { events: kept, limited: cut || low > first || request.newlyJoined, before };
}

function wanted({ room, filter, visible }: BatchRequest, from: number, to: number): readonly StoredEvent[] {
  return room.timeline.slice(from, to).filter((stored) => filter.timeline.allows(stored.event) && visible(stored));
}
