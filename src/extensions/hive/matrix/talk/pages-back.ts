// Owns going back through the messages of a room, page by page (seed 004: GET messages?dir=b). Knows no meaning of an event.
// Invariant: bounded in pages; a server that gives the same position twice ends it.
import type { JsonObject } from '#base/json.ts';
import { objectsAt, textAt } from '../events/json-access.ts';
import type { MatrixGround } from '../matrix-ground.ts';

export interface WayBack {
  readonly roomId: string;
  /** Events a page. */
  readonly pageSize: number;
  readonly maxPages: number;
  /** Only what that user said; not for the first page when `alsoOthers`. */
  readonly sender?: string;
  readonly alsoOthers?: boolean;
}

export interface Page {
  /** Newest first, as they came. */
  readonly events: readonly JsonObject[];
  /** There is nothing before it. */
  readonly isStart: boolean;
}

const TYPES = ['m.room.message', 'm.room.encrypted'];

export async function* pagesBack(ground: MatrixGround, way: WayBack, signal: AbortSignal): AsyncGenerator<Page> {
  let from: string | undefined;
  for (let page = 0; page < way.maxPages; page += 1) {
    const query = { dir: 'b', limit: String(way.pageSize), filter: filterFor(way, page) };
    const answer = await ground.http(
      {
        method: 'GET',
        path: ['v3', 'rooms', way.roomId, 'messages'],
        query: from === undefined ? query : { ...query, from },
      },
      signal,
    );
    const end = textAt(answer, 'end');
    const isStart = end === undefined || end === from;
    yield { events: objectsAt(answer, 'chunk'), isStart };
    if (isStart) return;
    from = end;
  }
}

function filterFor({ sender, alsoOthers }: WayBack, page: number): string {
  const isAnybody = sender === undefined || (alsoOthers === true && page === 0);
  return JSON.stringify(isAnybody ? { types: TYPES } : { types: TYPES, senders: [sender] });
}
