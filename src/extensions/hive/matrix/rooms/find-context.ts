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
  let found: FoundContext | undefined;
  for await (const { events, isStart } of pagesBack(ground, way, signal)) {
    const context = await earliestIn(ground, { room, peerId, events });
    const newest = found?.newest ?? [...events].reverse().flatMap((event) => readEvent(event) ?? []);
    found = { newest, isWhole: found?.isWhole ?? isStart, context: context ?? found?.context ?? '' };
  }
  return found ?? { context: '', newest: [], isWhole: true };
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
