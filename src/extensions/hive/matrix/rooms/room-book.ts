// Owns what is known between two refreshes: rooms that we are in, invitations, sparks. Rebuilt whole by one sync after a restart
// (seed 004, layer 4). Knows no wire. Invariant: plain readonly data; a change makes a new book and leaves the old one as it was.
import type { JsonObject } from '#base/json.ts';
import type { PeerSummary } from '../../peers/peer.ts';
import type { ReadMark } from '../account-data/read-mark.ts';
import type { StoredPeer } from '../account-data/stored-peer.ts';
import { NO_SPARKS, type SparkShelf } from '../account-data/stored-sparks.ts';

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

export interface Creation {
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

export type NoteKind = 'peer' | 'summary' | 'read';

export interface RoomNotes {
  readonly peer?: StoredPeer;
  readonly summary?: PeerSummary;
  readonly read?: ReadMark;
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

export function emptyRoom(id: string): RoomRecord {
  return { id, members: new Map(), seen: [], hasMore: false, notes: { behind: [] } };
}

/** A room that nothing is known of, but that it is encrypted when it ever was. */
export function newRoom(id: string, encrypted: Encryptions): RoomRecord {
  const encryption = encrypted.get(id);
  return encryption === undefined ? emptyRoom(id) : { ...emptyRoom(id), encryption };
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
