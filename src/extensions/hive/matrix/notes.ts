// Owns the notes that our keys in the account data hold, which are the database of the peer layer (seed 004, layer 4): their forms (R4.39, R4.40,
// R4.63), reading and writing them, and the seam to their encryption (`peers.encrypt_account_data`). Knows no room. Invariants: only M_NOT_FOUND
// is absence, every other failure throws (notes 6, B6); a spark that we cannot read (of another version, say) is carried along unchanged.
import { z } from 'zod';
import { isoTime, parseTime } from '#base/clock.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { type Peer, PeerError, type PeerSummary, peerSummarySchema, type Spark, sparkSchema } from '../peer.ts';
import { isUserId, listAt, nameOf } from './events.ts';
import type { MatrixHttp } from './matrix-http.ts';

/** Of the account data of a room, by kind of note. */
export const NOTE_KEYS = {
  peer: 'social.awareness.peer',
  summary: 'social.awareness.summary',
  read: 'social.awareness.read',
} as const;

/** Of the account data of the user. */
export const SPARKS_KEY = 'social.awareness.sparks';

const OUR_KEYS: ReadonlySet<string> = new Set([...Object.values(NOTE_KEYS), SPARKS_KEY]);

export type NoteKind = keyof typeof NOTE_KEYS;

/** What is kept about the peer of a room. */
export interface Notes {
  readonly peer?: StoredPeer;
  readonly summary?: PeerSummary;
  readonly read?: ReadMark;
}

/** Exactly the eight fields of the seed. Ids are `@name:server`. */
export interface StoredPeer {
  readonly peer_name: string;
  readonly peer_id: string;
  readonly context: string;
  readonly introduced_by: string;
  readonly introduced_by_id: string;
  /** ISO 8601 */
  readonly introduced_at: string;
  readonly status: Peer['status'];
  readonly room_id: string;
}

/** Up to where messages were shown to the agent. */
export interface ReadMark {
  readonly eventId: string;
  /** Epoch ms of that event, for when it is no longer among the known ones. */
  readonly at: number;
}

const userId = z.string().refine(isUserId);
const storedPeerSchema = z.object({
  peer_id: userId,
  context: z.string().max(20_000).catch(''),
  introduced_by_id: userId,
  introduced_at: z.string().refine((text) => parseTime(text) !== undefined),
  status: z.enum(['active', 'invited', 'left']).catch('active'),
});
const readMarkSchema = z.object({ event_id: z.string().min(1), at: z.string() });

/** How each kind is read; undefined when it is no such note. Names are taken from the ids, never from what stands beside them. */
export const readNote: { readonly [Kind in NoteKind]: (value: JsonObject, roomId: string) => Notes[Kind] } = {
  peer: (value, roomId) => {
    const { data } = storedPeerSchema.safeParse(value);
    return data && storedPeer({ ...data, introduced_at: isoTime(parseTime(data.introduced_at) ?? 0) }, roomId);
  },
  summary: (value) => peerSummarySchema.safeParse(value).data,
  read: (value) => {
    const { data } = readMarkSchema.safeParse(value);
    return data && { eventId: data.event_id, at: parseTime(data.at) ?? 0 };
  },
};

export function storedPeer(note: z.infer<typeof storedPeerSchema>, roomId: string): StoredPeer {
  const { peer_id, introduced_by_id } = note;
  return { peer_name: nameOf(peer_id), introduced_by: nameOf(introduced_by_id), ...note, room_id: roomId };
}

/** By key, as they are written. */
export function writtenNotes({ peer, summary, read }: Notes): readonly (readonly [key: string, value: JsonObject])[] {
  return [
    ...(peer === undefined ? [] : [[NOTE_KEYS.peer, { ...peer }] as const]),
    ...(summary === undefined ? [] : [[NOTE_KEYS.summary, { ...summary }] as const]),
    ...(read === undefined ? [] : [[NOTE_KEYS.read, { event_id: read.eventId, at: isoTime(read.at) }] as const]),
  ];
}

export interface SparkShelf {
  readonly sparks: readonly Spark[];
  /** Entries as they were, at most 500. */
  readonly foreign: readonly JsonObject[];
}

const MAX_FOREIGN = 500;

export const NO_SPARKS: SparkShelf = { sparks: [], foreign: [] };

export function readSparks(value: JsonObject): SparkShelf {
  const sparks: Spark[] = [];
  const foreign: JsonObject[] = [];
  for (const item of listAt(value, 'sparks')) {
    const { data } = sparkSchema.safeParse(item);
    if (data !== undefined) sparks.push(data);
    else if (isJsonObject(item) && foreign.length < MAX_FOREIGN) foreign.push(item);
  }
  return { sparks, foreign };
}

export interface Opened {
  /** Undefined: sealed, and we have no key that opens it. */
  readonly value: JsonObject | undefined;
  /** Sealed where notes are to be sealed, plain where they are not. */
  readonly isAsWanted: boolean;
}

/** `room`: absent for what belongs to the user. */
export class AccountData {
  readonly #http: MatrixHttp;
  readonly #selfId: string;
  readonly #cipher: AccountDataCipher | undefined;

  constructor(http: MatrixHttp, selfId: string, cipher: AccountDataCipher | undefined) {
    this.#http = http;
    this.#selfId = selfId;
    this.#cipher = cipher;
  }

  /** A plain one that is not believed is as one that is not there. */
  open(stored: JsonObject, key: string, room?: string): Opened {
    const cipher = this.#cipher;
    if (isSealed(stored))
      return { value: cipher?.open(stored, this.#place(key, room)), isAsWanted: cipher !== undefined };
    const isNote = OUR_KEYS.has(key) && Object.keys(stored).length > 0;
    if (!isNote || !cipher?.plain?.isOver()) return { value: stored, isAsWanted: cipher === undefined };
    cipher.plain.refused();
    return { value: {}, isAsWanted: true };
  }

  /** All that a whole sync brought is on the server as it is wanted: from now on what is in clear there is not ours. */
  settled(): void {
    this.#cipher?.plain?.end();
  }

  async get(key: string, room: string | undefined, signal: AbortSignal): Promise<JsonObject | undefined> {
    try {
      return await this.#http({ method: 'GET', path: this.#path(key, room) }, signal);
    } catch (error) {
      if (error instanceof PeerError && error.errcode === 'M_NOT_FOUND') return undefined;
      throw error;
    }
  }

  async put(key: string, room: string | undefined, value: JsonObject, signal: AbortSignal): Promise<void> {
    const body = this.#cipher?.seal(value, this.#place(key, room)) ?? value;
    await this.#http({ method: 'PUT', path: this.#path(key, room), body }, signal);
  }

  #path(key: string, room: string | undefined): readonly string[] {
    const of = room === undefined ? [] : ['rooms', room];
    return ['v3', 'user', this.#selfId, ...of, 'account_data', key];
  }

  #place(key: string, room = ''): string {
    return JSON.stringify([this.#selfId, room, key]);
  }
}

/**
 * Contract. `place` names where a value is kept; it is bound, not stored, and a value that was moved to another place does not open.
 * Synchronous; the same plain value gives another sealed one each time. Never throws for what was stored.
 */
export interface AccountDataCipher {
  /** `{encrypted: 'v1', nonce, ciphertext}` */
  seal(value: JsonObject, place: string): JsonObject;
  /** Undefined: sealed with another key or for another place, or damaged. Only called with what is sealed. */
  open(value: JsonObject, place: string): JsonObject | undefined;
  /** Absent: plain values are always believed. */
  readonly plain?: PlainNotes;
}

/** Values from before sealing was switched on are believed until all of them were sealed. Never throws, but for what the disk does. */
export interface PlainNotes {
  isOver(): boolean;
  /** All that there was is sealed now. */
  end(): void;
  /** One was left out. */
  refused(): void;
}

function isSealed(value: JsonObject): boolean {
  return typeof value.encrypted === 'string' && typeof value.ciphertext === 'string';
}
