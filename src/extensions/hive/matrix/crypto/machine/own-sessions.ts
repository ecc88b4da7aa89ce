// Owns which room sessions this process may go on with. A key store that was put back from a copy, however it was done, would use message keys
// again that are used already; a session that a process began itself cannot be older than what it sent. Knows no cryptography.
// Invariant: nothing is sent but with a session that this process began, at the place after its last message there.
import type { JsonObject } from '#base/json.ts';
import { type MessagePlace, messagePlace } from '../foreign/message-place.ts';

export class OwnSessions {
  readonly #last = new Map<string, MessagePlace>();
  /** Rooms whose session was used since the store was read from disk: memory is ahead of every copy. */
  readonly #inMemory = new Set<string>();

  /** The store was read from disk again: what it holds has to be looked at. */
  reopened(): void {
    this.#inMemory.clear();
  }

  isCertain(room: string): boolean {
    return this.#inMemory.has(room);
  }

  /** It may be as we left it, also when another process wrote to the store meanwhile. */
  isPossible(room: string): boolean {
    return this.#last.has(room);
  }

  /** The message stands right after our last one of that room. */
  isNext(room: string, content: JsonObject | undefined): boolean {
    const last = this.#last.get(room);
    const place = messagePlace(content);
    return last !== undefined && place?.sessionId === last.sessionId && place.index === last.index + 1;
  }

  /** @param content of the last message that was stored */
  note(room: string, content: JsonObject | undefined): void {
    const place = messagePlace(content);
    if (place === undefined) return;
    this.#last.set(room, place);
    this.#inMemory.add(room);
  }
}
