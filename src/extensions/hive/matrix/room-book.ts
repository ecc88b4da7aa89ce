// Owns what is known between two refreshes: rooms that we are in, invitations, sparks; what events of state and messages change in it, and
// what is counted. Rebuilt whole by one sync after a restart (seed 004, layer 4). Knows no wire. Invariants: plain readonly data, a change makes
// a new book; encryption is never taken back, creation never changed; messages are remembered without text, each once, oldest first, at most
// 20; counts come from message ids, so they never saturate unnoticed: `hasMore` and `atLeast` say what may be missing (notes 6, B5).
import type { JsonObject } from '#base/json.ts';
import type { PeerTraffic } from '../peer.ts';
import { isIntroductionLine, objectAt, type RoomEvent, textAt, wordsOf } from './events.ts';
import { NO_SPARKS, type NoteKind, type Notes, type ReadMark, type SparkShelf } from './notes.ts';

export interface RoomBook {
  /** By room id, only such that we are joined to. */
  readonly rooms: ReadonlyMap<string, RoomRecord>;
  readonly invites: ReadonlyMap<string, Invite>;
  readonly sparks: SparkShelf & {
    /** The server has less, or has it in the wrong form. */
    readonly isBehind: boolean;
    /** Sealed with a key that we lack. */
    readonly isLocked: boolean;
  };
  /** Settings of every room that was ever seen encrypted, whatever is said of it later and whether or not we are in it. */
  readonly encrypted: Encryptions;
}

/** Content of `m.room.encryption` by room id. */
export type Encryptions = ReadonlyMap<string, JsonObject>;

export interface Invite {
  readonly roomId: string;
  readonly inviter?: string;
  readonly creator?: string;
}

export type Membership = 'join' | 'invite' | 'gone';

export interface RoomRecord {
  readonly id: string;
  readonly creation?: Creation;
  /** Content of `m.room.encryption`; once there it stays. */
  readonly encryption?: JsonObject;
  /** By user id; `gone` are those who left, were thrown out or declined. */
  readonly members: ReadonlyMap<string, Membership>;
  /** The newest messages, oldest first, at most 20. */
  readonly seen: readonly SeenMessage[];
  /** There may be messages before `seen`. */
  readonly hasMore: boolean;
  readonly notes: RoomNotes;
}

interface Creation {
  /** Sender of `m.room.create`: the only creator that counts in every version of rooms (notes 6, B18). */
  readonly sender: string;
  /** Epoch ms. */
  readonly at: number;
  readonly isDirect: boolean;
  /** By which we find a room again whose creation was not confirmed. */
  readonly mark?: string;
}

export interface SeenMessage {
  readonly id: string;
  readonly sender: string;
  /** Epoch ms. */
  readonly at: number;
  /** `About …` or `Why …` of the room's creator, sent in clear. */
  readonly isIntroduction: boolean;
}

export interface RoomNotes extends Notes {
  /** Kinds that the server does not have as they are here. */
  readonly behind: readonly NoteKind[];
}

export const MAX_SEEN = 20;

export const EMPTY_BOOK: RoomBook = {
  rooms: new Map(),
  invites: new Map(),
  sparks: { ...NO_SPARKS, isBehind: false, isLocked: false },
  encrypted: new Map(),
};

/** A room that nothing is known of, but that it is encrypted when it ever was. */
export function newRoom(id: string, encrypted: Encryptions = new Map()): RoomRecord {
  const encryption = encrypted.get(id);
  const room: RoomRecord = { id, members: new Map(), seen: [], hasMore: false, notes: { behind: [] } };
  return encryption === undefined ? room : { ...room, encryption };
}

/** With what these rooms say; the same when they say nothing new. */
export function withEncryptions(before: Encryptions, rooms: readonly RoomRecord[]): Encryptions {
  const news = rooms.flatMap(({ id, encryption }) =>
    encryption === undefined || before.get(id) === encryption ? [] : [[id, encryption] as const],
  );
  return news.length === 0 ? before : new Map([...before, ...news]);
}

/** Everybody who may read what is said: joined or invited. */
export function presentMembers(record: RoomRecord): readonly string[] {
  return [...record.members].flatMap(([userId, membership]) => (membership === 'gone' ? [] : [userId]));
}

export function isRoomId(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && /^![^\s\p{Cc}]{1,254}$/u.test(value);
}

/** The one mutable thing of the Matrix backend: which book is the present one. A book is put in its place whole. */
export class BookShelf {
  #book = EMPTY_BOOK;

  book(): RoomBook {
    return this.#book;
  }

  put(book: RoomBook): void {
    this.#book = book;
  }

  /** Puts the room in; an invitation to it is over. */
  putRoom(room: RoomRecord): void {
    const { rooms, invites: before, encrypted } = this.#book;
    const invites = new Map(before);
    invites.delete(room.id);
    this.#book = {
      ...this.#book,
      invites,
      encrypted: withEncryptions(encrypted, [room]),
      rooms: new Map(rooms).set(room.id, room),
    };
  }

  /** Changes a room as it is now; nothing when it is gone meanwhile. */
  changeRoom(roomId: string, change: (room: RoomRecord) => RoomRecord): void {
    const room = this.#book.rooms.get(roomId);
    const changed = room === undefined ? undefined : change(room);
    if (changed !== undefined && changed !== room) this.putRoom(changed);
  }

  /** Changes the notes of a room as they are now. */
  changeNotes(roomId: string, change: (notes: RoomNotes) => Partial<RoomNotes>): void {
    this.changeRoom(roomId, (now) => ({ ...now, notes: { ...now.notes, ...change(now.notes) } }));
  }
}

/** Keys in the creation event of rooms that we make. */
export const DIRECT_KEY = 'social.awareness.direct';
export const MARK_KEY = 'social.awareness.introduction';

/** Applies events in their order; those that are no state of ours are passed over. */
export function applyState(room: RoomRecord, events: readonly RoomEvent[]): RoomRecord {
  const creation = room.creation ?? creationIn(events);
  const encryption = encryptionIn(room, events);
  const members = new Map(room.members);
  for (const { type, stateKey = '', content } of events) {
    // Whoever is named counts as somebody who may read, also by an id that is none.
    if (type !== 'm.room.member' || stateKey === '') continue;
    const membership = textAt(content, 'membership');
    members.set(stateKey, membership === 'join' || membership === 'invite' ? membership : 'gone');
  }
  return {
    ...room,
    ...(creation === undefined ? {} : { creation }),
    ...(encryption === undefined ? {} : { encryption }),
    members,
  };
}

function creationIn(events: readonly RoomEvent[]): Creation | undefined {
  const event = events.find(({ type, stateKey }) => type === 'm.room.create' && stateKey === '');
  if (event === undefined) return undefined;
  const mark = textAt(event.content, MARK_KEY);
  return {
    sender: event.sender,
    at: event.at,
    isDirect: event.content[DIRECT_KEY] === true,
    ...(mark === undefined ? {} : { mark }),
  };
}

/** Settings without an algorithm count when there are no others: whatever is sent then is refused, never clear. */
function encryptionIn(room: RoomRecord, events: readonly RoomEvent[]): RoomRecord['encryption'] {
  const found = events.filter(({ type, stateKey }) => type === 'm.room.encryption' && stateKey === '');
  const usable = found.findLast(({ content }) => typeof content.algorithm === 'string');
  return usable?.content ?? room.encryption ?? (found.length === 0 ? undefined : objectAt(found[0]?.content));
}

type Seen = Pick<RoomRecord, 'seen' | 'hasMore'>;

const MESSAGES: ReadonlySet<string> = new Set(['m.room.message', 'm.room.encrypted']);

export function isMessage(event: RoomEvent): boolean {
  return MESSAGES.has(event.type) && event.stateKey === undefined;
}

/** @param events oldest first. @param isAfterGap there may be others between what was known and the first of them */
export function addSeen(room: RoomRecord, events: readonly RoomEvent[], isAfterGap: boolean): Seen {
  const messages = events.filter(isMessage).map((event) => seenMessage(event, room.creation?.sender));
  const found = [...new Map(messages.map((message) => [message.id, message])).values()];
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

function seenMessage(event: RoomEvent, creator: string | undefined): SeenMessage {
  const words = event.sender === creator ? wordsOf(event.type, event.content) : undefined;
  const { id, sender, at } = event;
  return { id, sender, at, isIntroduction: words !== undefined && isIntroductionLine(words) };
}

/** @param rooms all in which the two can talk; usually one. @param lastSummarised id of the newest message that the summary counts */
export function countTraffic(
  rooms: readonly RoomRecord[],
  selfId: string,
  peerId: string,
  lastSummarised: string | undefined,
): PeerTraffic {
  const all = rooms.length === 1 ? (rooms[0]?.seen ?? []) : byTime(rooms);
  // Looked for among all: the newest message may have been the introducer's.
  const last = lastSummarised === undefined ? -1 : all.findIndex(({ id }) => id === lastSummarised);
  const both = all.slice(last + 1).filter(({ sender }) => sender === selfId || sender === peerId);
  const hasMore = rooms.some((room) => room.hasMore);
  const news = rooms.map((room) => unreadIn(room, peerId));
  return {
    sinceSummary: both.filter(({ isIntroduction }) => !isIntroduction).length,
    unread: news.reduce((sum, { count }) => sum + count, 0),
    atLeast: (last < 0 && hasMore) || news.some(({ atLeast }) => atLeast),
    lastAt: all.reduce((latest, { at }) => Math.max(latest, at), 0),
  };
}

/** Whether `mark` is behind `other` in the room. Where one of them is no longer known, times decide. */
export function isFurther(seen: readonly SeenMessage[], mark: ReadMark, other: ReadMark): boolean {
  const [first, second] = [mark, other].map(({ eventId }) => seen.findIndex(({ id }) => id === eventId));
  if (first === undefined || second === undefined || (first < 0 && second < 0)) return mark.at > other.at;
  return first > second;
}

function byTime(rooms: readonly RoomRecord[]): readonly SeenMessage[] {
  return rooms.flatMap(({ seen }) => seen).sort((a, b) => a.at - b.at);
}

function unreadIn(room: RoomRecord, peerId: string): { readonly count: number; readonly atLeast: boolean } {
  const mark = room.notes.read;
  const marked = mark === undefined ? -1 : room.seen.findIndex(({ id }) => id === mark.eventId);
  const after = room.seen
    .slice(marked + 1)
    .filter(({ sender, isIntroduction }) => sender === peerId && !isIntroduction);
  const isLost = mark !== undefined && marked < 0;
  const count = isLost ? after.filter(({ at }) => at > mark.at).length : after.length;
  return { count, atLeast: marked < 0 && room.hasMore && count > 0 };
}
