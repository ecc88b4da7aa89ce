// Owns which messages of a room are remembered, without their text: enough to count by. Pure.
// Invariant: each message once, oldest first, at most 20; what may be missing in between is said by `hasMore`.

import { isIntroductionLine } from '../events/introduction-line.ts';
import { wordsOf } from '../events/message-text.ts';
import type { RoomEvent } from '../events/room-event.ts';
import { MAX_SEEN, type RoomRecord, type SeenMessage } from './room-book.ts';

type Seen = Pick<RoomRecord, 'seen' | 'hasMore'>;

export interface Stretch {
  /** Events in order, oldest first. */
  readonly events: readonly RoomEvent[];
  /** There may be others between what was known and the first of them. */
  readonly isAfterGap: boolean;
}

const MESSAGES: ReadonlySet<string> = new Set(['m.room.message', 'm.room.encrypted']);

export function isMessage(event: RoomEvent): boolean {
  return MESSAGES.has(event.type) && event.stateKey === undefined;
}

export function addSeen(room: RoomRecord, { events, isAfterGap }: Stretch): Seen {
  const creator = room.creation?.sender;
  const found = distinct(events.filter(isMessage).map((event) => seenMessage(event, creator)));
  if (!isAfterGap) return newest(room, found);
  const first = found[0];
  if (first === undefined) return { seen: room.seen, hasMore: true };
  const overlap = room.seen.findIndex(({ id }) => id === first.id);
  if (overlap < 0) return cut({ seen: found, hasMore: true });
  return newest({ seen: room.seen.slice(0, overlap), hasMore: room.hasMore }, found);
}

function newest(before: Seen, found: readonly SeenMessage[]): Seen {
  const known = new Set(before.seen.map(({ id }) => id));
  const fresh = found.filter(({ id }) => !known.has(id));
  return fresh.length === 0 ? before : cut({ seen: [...before.seen, ...fresh], hasMore: before.hasMore });
}

function cut({ seen, hasMore }: Seen): Seen {
  return { seen: seen.slice(-MAX_SEEN), hasMore: hasMore || seen.length > MAX_SEEN };
}

function distinct(messages: readonly SeenMessage[]): readonly SeenMessage[] {
  return [...new Map(messages.map((message) => [message.id, message])).values()];
}

function seenMessage(event: RoomEvent, creator: string | undefined): SeenMessage {
  const words = event.sender === creator ? wordsOf(event.type, event.content) : undefined;
  return {
    id: event.id,
    sender: event.sender,
    at: event.at,
    isIntroduction: words !== undefined && isIntroductionLine(words),
  };
}
