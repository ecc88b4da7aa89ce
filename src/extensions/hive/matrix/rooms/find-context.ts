// Owns finding what an introducer said about a peer: the earliest `About` line of the room's creator (R4.34; notes 6, B3, B4).
// Invariant: nobody but the creator is listened to, however much others write.
import type { JsonObject } from '#base/json.ts';
import { contextIn } from '../events/introduction-line.ts';
import { type RoomEvent, readEvent } from '../events/room-event.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import { pagesBack } from '../talk/pages-back.ts';
import { readTalk } from '../talk/read-talk.ts';
import type { RoomRecord } from './room-book.ts';

const PAGE = 100;
const MAX_PAGES = 10;

export interface FoundContext {
  /** Empty when nothing was said. */
  readonly context: string;
  /** The newest events of anybody, oldest first. */
  readonly newest: readonly RoomEvent[];
  /** There are none before them. */
  readonly isWhole: boolean;
}

export async function findContext(
  ground: MatrixGround,
  { room, peerId }: { readonly room: RoomRecord; readonly peerId: string },
  signal: AbortSignal,
): Promise<FoundContext> {
  const creator = room.creation?.sender ?? ground.selfId;
  const way = { roomId: room.id, pageSize: PAGE, maxPages: MAX_PAGES, sender: creator, alsoOthers: true };
  let first: readonly JsonObject[] | undefined;
  let context = '';
  let isToTheStart = false;
  for await (const { events, isStart } of pagesBack(ground, way, signal)) {
    first ??= events;
    context = (await earliestIn(ground, { room, peerId, events })) ?? context;
    isToTheStart = isStart;
  }
  // Later pages hold the creator's messages only; but behind a page that is not full there is nothing of anybody.
  const isWhole = isToTheStart && (first ?? []).length < PAGE;
  return { context, isWhole, newest: [...(first ?? [])].reverse().flatMap((event) => readEvent(event) ?? []) };
}

interface Looked {
  readonly room: RoomRecord;
  readonly peerId: string;
  /** Newest first. */
  readonly events: readonly JsonObject[];
}

async function earliestIn(ground: MatrixGround, { room, peerId, events }: Looked): Promise<string | undefined> {
  for (const raw of [...events].reverse()) {
    if (raw.sender !== room.creation?.sender) continue;
    const talk = await readTalk(ground, room, raw);
    const context = contextIn(talk?.words ?? '', peerId);
    if (context !== undefined && context !== '') return context;
  }
  return undefined;
}
