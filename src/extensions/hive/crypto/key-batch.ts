// Owns what one batch may use while it alone, of all processes of this home, holds the keys; which room sessions this process may go on with (a
// store put back from a copy would use message keys again); and what is foreign to the machine: where in its session a message stands, how deep
// JSON may be nested, user ids, made anew for each call. Invariants: nothing is sent but with a session that this process began, at the place
// after its last message there; one message has one form, for the machine would open what says the same in other bytes; what is no user id
// is left out, so that one bad id breaks nothing.
import { type OlmMachine, UserId } from '@matrix-org/matrix-sdk-crypto-wasm';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { MatrixHttp } from '../matrix/matrix-http.ts';
import type { CryptoFile, EncryptedRooms, ReachedDevices } from './crypto-file.ts';

interface MessagePlace {
  readonly sessionId: string;
  readonly index: number;
}

const VERSION = 3;
const INDEX_TAG = 0x08;
const TEXT_TAG = 0x12;
/** Authentication code and signature. */
const TRAILER_BYTES = 8 + 64;

/** @param content of `m.room.encrypted`, Megolm. Undefined: it has not the one form that every encrypting side makes. */
export function messagePlace(content: JsonObject | undefined): MessagePlace | undefined {
  if (!isJsonObject(content)) return undefined;
  const { session_id: sessionId, ciphertext } = content;
  if (typeof sessionId !== 'string' || typeof ciphertext !== 'string') return undefined;
  const bytes = Buffer.from(ciphertext, 'base64');
  if (bytes[0] !== VERSION || bytes[1] !== INDEX_TAG) return undefined;
  const index = readNumber(bytes, 2);
  if (index === undefined || bytes[index.end] !== TEXT_TAG) return undefined;
  const length = readNumber(bytes, index.end + 1);
  if (length === undefined || length.end + length.value + TRAILER_BYTES !== bytes.length) return undefined;
  return { sessionId, index: index.value };
}

/** Seven bits a byte, lowest first, in as few bytes as there can be; at most 32 bits. */
function readNumber(bytes: Buffer, start: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let count = 0; count < 5; count += 1) {
    const byte = bytes[start + count];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * count);
    if (byte >= 0x80) continue;
    const isShortest = count === 0 || byte > 0;
    return isShortest && value < 2 ** 32 ? { value, end: start + count + 1 } : undefined;
  }
  return undefined;
}

/** What honest devices send has fewer than ten. */
export const MAX_LEVELS = 64;

export function isDeep(value: JsonValue | undefined, levels = MAX_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const inner: readonly (JsonValue | undefined)[] = Array.isArray(value) ? value : Object.values(value);
  return inner.some((one) => isDeep(one, levels - 1));
}

/** An answer about keys, `{what: {user: {device: …}}}`, without the devices that are nested too deep. */
export function withoutDeep(answer: JsonObject): JsonObject {
  return isDeep(answer) ? part(answer, 3) : answer;
}

function part(value: JsonObject, levels: number): JsonObject {
  const kept = Object.entries(value).flatMap(([name, inner]): [string, JsonValue | undefined][] => {
    if (!isDeep(inner)) return [[name, inner]];
    return levels > 1 && isJsonObject(inner) ? [[name, part(inner, levels - 1)]] : [];
  });
  return Object.fromEntries(kept);
}

export function userIds(ids: readonly string[]): UserId[] {
  return ids.flatMap((id) => {
    try {
      return [new UserId(id)];
    } catch {
      return []; // nobody whose devices we could know
    }
  });
}

export interface KeyBatch {
  readonly olm: OlmMachine;
  readonly file: CryptoFile;
  readonly reached: ReachedDevices;
  readonly encrypted: EncryptedRooms;
  readonly ownSessions: OwnSessions;
  readonly http: MatrixHttp;
  readonly userId: string;
  readonly deviceId: string;
  /** Something for the owner, one sentence; the same one is said once. */
  readonly warn: (sentence: string) => void;
  /** To be written to the file together with the next `store`. */
  readonly later: (write: () => void) => void;
  /** Writes all that changed, in one transaction; nothing when nothing did. `isLight`: what a repetition would bring about again. */
  readonly store: (options?: { readonly isLight?: boolean }) => Promise<void>;
  /** Member lists for which nothing has to be asked before a message: devices are known and have sessions. Emptied by all that is new. */
  readonly prepared: Set<string>;
  readonly signal: AbortSignal;
}

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
