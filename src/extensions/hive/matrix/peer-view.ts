// Owns the view of the book as peers: which rooms give a peer, and whom (decision 0023; notes 6, B8, B9, B17), whose introductions are accepted
// (B15), and which of several rooms with one peer counts (R4.52). Knows no wire. Pure. Invariants: nobody takes the place of a peer that is
// known, and a room in which others would read along gives no new one; a talk stays in the room that we noted first, no later room of somebody
// else takes it over, however old it claims to be, and it never goes on in clear where it was encrypted.

import { isoTime, parseTime } from '#base/clock.ts';
import { starTest } from '#base/text/glob.ts';
import type { KnownPeer, Peer } from '../peer.ts';
import type { HiveConfig } from '../settings.ts';
import { isUserId, nameOf, opaqueId } from './events.ts';
import { countTraffic, presentMembers, type RoomBook, type RoomRecord } from './room-book.ts';

export interface PeerVerdict {
  readonly kind: 'peer';
  readonly userId: string;
  readonly introducerId: string;
  readonly status: Peer['status'];
  /** Somebody who is neither of the two nor the introducer can read what is said. */
  readonly isShared: boolean;
}

interface NoPeerVerdict {
  readonly kind: 'none';
  /** For the owner. */
  readonly why: string;
  /** Worth telling: the owner may expect a peer here. */
  readonly isOdd: boolean;
}

interface Judge {
  readonly selfId: string;
  /** Whether introductions of that user are accepted. */
  readonly isWelcome: (userId: string) => boolean;
}

function judgeRoom(room: RoomRecord, { selfId, isWelcome }: Judge): PeerVerdict | NoPeerVerdict {
  const creator = room.creation?.sender;
  if (room.members.get(selfId) !== 'join') return none('we are not in it', true);
  if (creator === undefined) return none('who created it cannot be seen', true);
  if (creator === selfId && room.creation?.isDirect !== true) return none('we introduced others there', false);
  const noted = room.notes.peer?.peer_id ?? selfId;
  if (noted !== selfId) return peer(room, noted, creator, selfId);
  if (creator !== selfId && !isWelcome(creator)) return none(`introductions of ${creator} are not accepted`, true);
  return judgeMembers(room, creator, selfId);
}

function judgeMembers(room: RoomRecord, creator: string, selfId: string): PeerVerdict | NoPeerVerdict {
  const others = presentMembers(room).filter((userId) => userId !== selfId && userId !== creator);
  const [only] = others;
  if (others.length > 1) return none(`${others.length + 2} are in it, so what is said there would reach others`, true);
  if (only !== undefined && !isUserId(only)) return none('who was introduced there has no id that can be used', true);
  if (only !== undefined) return peer(room, only, creator, selfId);
  if (creator === selfId) return none('nobody else is in it', false);
  const wasThere = [...room.members.keys()].some((userId) => userId !== selfId && userId !== creator);
  if (wasThere) return none('who was introduced there has left', true);
  if ((room.members.get(creator) ?? 'gone') === 'gone') return none('nobody else is in it', true);
  return peer(room, creator, creator, selfId);
}

function peer(room: RoomRecord, userId: string, introducerId: string, selfId: string): PeerVerdict {
  const knownOnes = new Set([userId, selfId, introducerId, room.creation?.sender]);
  const membership = room.members.get(userId) ?? 'gone';
  const status = membership === 'join' ? 'active' : membership === 'gone' ? 'left' : 'invited';
  const isShared = presentMembers(room).some((member) => !knownOnes.has(member));
  return { kind: 'peer', userId, introducerId, status, isShared };
}

function none(why: string, isOdd: boolean): NoPeerVerdict {
  return { kind: 'none', why, isOdd };
}

export interface PeerRoom {
  readonly room: RoomRecord;
  readonly verdict: PeerVerdict;
}

/** Latest time that can be written down. */
const LAST_TIME = 8_640_000_000_000_000;

/** The first is the one that counts. Held back: the peer could be reached in clear alone, and the talk with it was encrypted. */
function orderRooms(rooms: readonly PeerRoom[], { selfId, canEncrypt }: PeerViewParts) {
  if (rooms.length < 2) return { rooms, isHeldBack: false };
  const sealed = rooms.filter(({ room }) => room.encryption !== undefined && (canEncrypt || hasTalk(room, selfId)));
  const byRank = compareRooms(selfId);
  const isStepBack = (one: PeerRoom) =>
    one.room.encryption === undefined && sealed.some((other) => byRank(other, one) < 0 || hasTalk(other.room, selfId));
  const back = new Set(rooms.filter(isStepBack));
  /** A room that the peer left, that others read, or that we could not write to, comes after its like. */
  const drawback = (one: PeerRoom): number => {
    const { room, verdict } = one;
    if (back.has(one)) return 8;
    const isUnusable = room.encryption !== undefined && !canEncrypt && !hasTalk(room, selfId);
    return (verdict.status === 'left' ? 4 : 0) + (verdict.isShared ? 2 : 0) + (isUnusable ? 1 : 0);
  };
  const ordered = [...rooms].sort((a, b) => drawback(a) - drawback(b) || byRank(a, b));
  const isOver = ordered[0]?.verdict.status === 'left';
  return { rooms: ordered, isHeldBack: isOver && [...back].some(({ verdict }) => verdict.status !== 'left') };
}

/** Noted ones first, in the order in which we noted them; of others direct before introduced, encrypted before clear, then the oldest. */
export function compareRooms(selfId: string) {
  return (a: PeerRoom, b: PeerRoom): number => {
    const [first, second] = [rankOf(a, selfId), rankOf(b, selfId)];
    const at = first.findIndex((value, index) => value !== second[index]);
    if (at >= 0) return (first[at] ?? 0) - (second[at] ?? 0);
    return a.room.id < b.room.id ? -1 : 1;
  };
}

function rankOf({ room, verdict }: PeerRoom, selfId: string): readonly number[] {
  const created = room.creation?.at ?? 0;
  const noted = parseTime(room.notes.peer?.introduced_at ?? '');
  const isIntroduced = room.creation?.sender !== selfId && room.creation?.sender !== verdict.userId;
  const kind = [isIntroduced ? 1 : 0, room.encryption === undefined ? 1 : 0];
  return noted !== undefined || hasTalk(room, selfId) ? [0, noted ?? created, ...kind] : [1, ...kind, created];
}

/** Something of ours is there. Read marks are in every room of a peer, so they say nothing. */
function hasTalk({ notes, seen }: RoomRecord, selfId: string): boolean {
  return notes.summary !== undefined || seen.some(({ sender, isIntroduction }) => sender === selfId && !isIntroduction);
}

/**
 * Epoch ms under which a room with that peer is noted: that of its creation, which its creator's server may forge, but never before what was
 * noted of the same peer earlier.
 */
export function noteTime({ rooms }: RoomBook, room: RoomRecord, userId: string, selfId: string): number {
  const created = room.creation?.at ?? 0;
  if (hasTalk(room, selfId)) return created;
  let time = created;
  for (const { id, notes } of rooms.values())
    if (id !== room.id && notes.peer?.peer_id === userId)
      time = Math.max(time, (parseTime(notes.peer.introduced_at) ?? 0) + 1);
  return Math.min(time, LAST_TIME);
}

/** Whether `userId` (`@name:server`) may introduce: not denied, and on the allow list unless that is empty. */
export function createJoinPolicy({ allow, deny }: Pick<HiveConfig['join'], 'allow' | 'deny'>) {
  const [allowed, denied] = [allow, deny].map((list) => list.map((one) => starTest(one.toLowerCase())));
  return (userId: string): boolean => {
    const id = opaqueId(userId).toLowerCase();
    if (denied?.some((fits) => fits(id))) return false;
    return allow.length === 0 || allowed?.some((fits) => fits(id)) === true;
  };
}

export interface PeerEntry {
  readonly known: KnownPeer;
  readonly userId: string;
  /** At least one; the first is where messages go. */
  readonly rooms: readonly [PeerRoom, ...PeerRoom[]];
  /** The peer could be reached in clear alone, and the talk with it was encrypted: nothing is sent. */
  readonly isHeldBack: boolean;
}

interface PeerViewParts extends Judge {
  /** Messages into encrypted rooms can be encrypted. */
  readonly canEncrypt: boolean;
}

/** By opaque id, oldest introduction first. */
export type PeerView = ReadonlyMap<string, PeerEntry>;

/** Rooms and books are judged once: as long as nothing changed, asking again costs nothing. */
export function createPeerViewer(parts: PeerViewParts) {
  const verdicts = new WeakMap<RoomRecord, PeerVerdict | NoPeerVerdict>();
  const views = new WeakMap<RoomBook, PeerView>();
  const judge = (room: RoomRecord): PeerVerdict | NoPeerVerdict => {
    const verdict = verdicts.get(room) ?? judgeRoom(room, parts);
    verdicts.set(room, verdict);
    return verdict;
  };
  const view = (book: RoomBook): PeerView => {
    const known = views.get(book) ?? makeView(book, judge, parts);
    views.set(book, known);
    return known;
  };
  return { judge, view };
}

export type PeerViewer = ReturnType<typeof createPeerViewer>;

function makeView(book: RoomBook, judge: PeerViewer['judge'], parts: PeerViewParts): PeerView {
  const found = [...book.rooms.values()].flatMap((room) => {
    const verdict = judge(room);
    return verdict.kind === 'peer' ? [{ room, verdict }] : [];
  });
  const groups = Map.groupBy(found, ({ verdict }) => verdict.userId);
  const entries = [...groups.values()].flatMap((group) => {
    const { rooms, isHeldBack } = orderRooms(group, parts);
    const [first, ...rest] = rooms;
    return first === undefined ? [] : [entry([first, ...rest], isHeldBack, parts)];
  });
  return new Map(entries.sort(byIntroduction).map((one) => [one.known.peer.id, one]));
}

function byIntroduction(a: PeerEntry, b: PeerEntry): number {
  const [first, second] = [a.known.peer, b.known.peer];
  if (first.introduced_at !== second.introduced_at) return first.introduced_at < second.introduced_at ? -1 : 1;
  return first.id < second.id ? -1 : 1;
}

function entry(rooms: PeerEntry['rooms'], isHeldBack: boolean, { selfId, canEncrypt }: PeerViewParts): PeerEntry {
  const [{ room, verdict }] = rooms;
  const { userId, introducerId, status } = verdict;
  const records = rooms.map((one) => one.room);
  const summaries = records.flatMap(({ notes }) => notes.summary ?? []);
  const [summary] = summaries.toSorted((a, b) => b.last_updated.localeCompare(a.last_updated));
  const peer: Peer = {
    name: nameOf(userId),
    id: opaqueId(userId),
    context: room.notes.peer?.context ?? '',
    introduced_by: nameOf(introducerId),
    introduced_at: room.notes.peer?.introduced_at ?? isoTime(room.creation?.at ?? 0),
    status,
  };
  const known: KnownPeer = {
    peer,
    introducedById: opaqueId(introducerId),
    ...(summary === undefined ? {} : { summary }),
    traffic: countTraffic(records, selfId, userId, summary?.last_message_id),
    isProtected: room.encryption !== undefined && canEncrypt,
  };
  return { known, userId, rooms, isHeldBack };
}
