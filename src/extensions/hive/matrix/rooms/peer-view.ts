// Owns the view of the book as peers: each once, with all rooms in which the two can talk (R4.52). Knows no wire.
// Invariant: of several rooms with one peer one counts (order-rooms): what is said of the peer is what was said there.
import { isoTime } from '#base/clock.ts';
import type { Peer, PeerSummary } from '../../peers/peer.ts';
import type { KnownPeer } from '../../peers/peer-transport.ts';
import { nameOf, opaqueId } from '../events/user-id.ts';
import { countTraffic } from './count-traffic.ts';
import { type Judge, judgeRoom, type NoPeerVerdict, type PeerVerdict } from './judge-room.ts';
import { orderRooms, type PeerRoom, type RoomOrder } from './order-rooms.ts';
import type { RoomBook, RoomRecord } from './room-book.ts';

export interface PeerEntry {
  readonly known: KnownPeer;
  readonly userId: string;
  /** At least one; the first is where messages go. */
  readonly rooms: readonly [PeerRoom, ...PeerRoom[]];
  /** The peer could be reached in clear alone, and the talk with it was encrypted: nothing is sent. */
  readonly isHeldBack: boolean;
}

export type PeerViewParts = Judge & RoomOrder;

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
  const groups = new Map<string, PeerRoom[]>();
  for (const room of book.rooms.values()) {
    const verdict = judge(room);
    if (verdict.kind === 'peer') addTo(groups, verdict.userId, { room, verdict });
  }
  const entries = [...groups].flatMap(([userId, found]) => {
    const { rooms, isHeldBack } = orderRooms(found, parts);
    const [first, ...rest] = rooms;
    return first === undefined ? [] : [entry({ userId, rooms: [first, ...rest], isHeldBack }, parts)];
  });
  return new Map(entries.sort(byIntroduction).map((one) => [one.known.peer.id, one]));
}

function addTo(groups: Map<string, PeerRoom[]>, userId: string, room: PeerRoom): void {
  const group = groups.get(userId);
  if (group === undefined) groups.set(userId, [room]);
  else group.push(room);
}

function byIntroduction(a: PeerEntry, b: PeerEntry): number {
  const [first, second] = [a.known.peer, b.known.peer];
  if (first.introduced_at !== second.introduced_at) return first.introduced_at < second.introduced_at ? -1 : 1;
  return first.id < second.id ? -1 : 1;
}

function entry(group: Omit<PeerEntry, 'known'>, { selfId, canEncrypt }: PeerViewParts): PeerEntry {
  const { userId, rooms } = group;
  const [first] = rooms;
  const summary = newestSummary(rooms);
  const records = rooms.map(({ room }) => room);
  const lastSummarised = summary?.last_message_id;
  return {
    ...group,
    known: {
      peer: peerOf(userId, first),
      introducedById: opaqueId(first.verdict.introducerId),
      ...(summary === undefined ? {} : { summary }),
      traffic: countTraffic(records, { selfId, peerId: userId, lastSummarised }),
      isProtected: first.room.encryption !== undefined && canEncrypt,
    },
  };
}

function peerOf(userId: string, { room, verdict }: PeerRoom): Peer {
  return {
    name: nameOf(userId),
    id: opaqueId(userId),
    context: room.notes.peer?.context ?? '',
    introduced_by: nameOf(verdict.introducerId),
    introduced_at: room.notes.peer?.introduced_at ?? isoTime(room.creation?.at ?? 0),
    status: verdict.status,
  };
}

function newestSummary(rooms: readonly PeerRoom[]): PeerSummary | undefined {
  const summaries = rooms.flatMap(({ room }) => room.notes.summary ?? []);
  return summaries.reduce<PeerSummary | undefined>(
    (newest, summary) => (newest === undefined || summary.last_updated > newest.last_updated ? summary : newest),
    undefined,
  );
}
