// Owns reading what was said with a peer: backwards through every room in which the two can talk, decrypted, newest first (R4.37).
// Invariant: bounded in requests; an event that is no message is passed over, one that cannot be read is shown as such.

import { throwIfAborted } from '#base/abort.ts';
import { isoTime } from '#base/clock.ts';
import type { PeerMessage } from '../../peers/peer.ts';
import { translateLine } from '../events/introduction-line.ts';
import { type RoomEvent, readEvent } from '../events/room-event.ts';
import { nameOf, opaqueId } from '../events/user-id.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import type { RoomRecord } from '../rooms/room-book.ts';
import { addSeen } from '../rooms/seen-messages.ts';
import { findEntry } from './find-entry.ts';
import { pagesBack } from './pages-back.ts';
import { readTalk, type TalkEvent } from './read-talk.ts';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;
const MAX_PAGE = 100;
/** Pages that hold nothing readable do not end the search at once, but soon. */
const SPARE_PAGES = 3;
const MAX_ROOMS = 3;

export async function readMessages(
  ground: MatrixGround,
  { id, limit = DEFAULT_LIMIT }: { readonly id: string; readonly limit?: number },
  signal: AbortSignal,
): Promise<readonly PeerMessage[]> {
  throwIfAborted(signal);
  const wanted = Math.min(MAX_LIMIT, Math.max(1, Math.floor(limit)));
  const rooms = findEntry(ground, id).rooms.slice(0, MAX_ROOMS);
  const found: TalkEvent[] = [];
  for (const { room } of rooms) found.push(...(await talkIn(ground, { room, wanted }, signal)));
  // Within one room the order of the server stands: times may be wrong.
  const ordered = rooms.length > 1 ? found.sort((a, b) => b.event.at - a.event.at) : found;
  return ordered.slice(0, wanted).map((talk) => messageOf(talk, ground.selfId));
}

interface Wanted {
  readonly room: RoomRecord;
  readonly wanted: number;
}

async function talkIn(
  ground: MatrixGround,
  { room, wanted }: Wanted,
  signal: AbortSignal,
): Promise<readonly TalkEvent[]> {
  const pageSize = Math.min(MAX_PAGE, wanted);
  const way = { roomId: room.id, pageSize, maxPages: Math.ceil(wanted / pageSize) + SPARE_PAGES };
  const found: TalkEvent[] = [];
  let isFirst = true;
  for await (const { events, isStart } of pagesBack(ground, way, signal)) {
    if (isFirst) noteSeen(ground, { room, newest: events.flatMap((raw) => readEvent(raw) ?? []), isStart });
    isFirst = false;
    for (const raw of events) {
      const talk = await readTalk(ground, room, raw);
      if (talk !== undefined) found.push(talk);
    }
    if (found.length >= wanted) break;
  }
  return found;
}

interface Newest {
  readonly room: RoomRecord;
  /** Newest first. */
  readonly newest: readonly RoomEvent[];
  readonly isStart: boolean;
}

/** What was just read counts as known before the next refresh: so it can be marked as read. */
function noteSeen({ shelf }: MatrixGround, { room, newest, isStart }: Newest): void {
  const events = [...newest].reverse();
  shelf.changeRoom(room.id, (now) => {
    const known = new Set(now.seen.map(({ id }) => id));
    if (events.every(({ id }) => known.has(id) || events.length === 0)) return now;
    return { ...now, ...addSeen(now, { events, isAfterGap: !isStart }) };
  });
}

function messageOf({ event, state, text }: TalkEvent, selfId: string): PeerMessage {
  return {
    id: event.id,
    from: nameOf(event.sender),
    fromId: opaqueId(event.sender),
    mine: event.sender === selfId,
    text: translateLine(text),
    time: isoTime(event.at),
    state,
  };
}
