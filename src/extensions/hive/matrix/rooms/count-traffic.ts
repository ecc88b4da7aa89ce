// Owns what is counted in a room: messages since the summary, messages that are unread. Pure.
// Invariant: counts come from message ids, so they never saturate unnoticed: `atLeast` says when there may be more (notes 6, B5).
import type { PeerTraffic } from '../../peers/peer-transport.ts';
import type { ReadMark } from '../account-data/read-mark.ts';
import type { RoomRecord, SeenMessage } from './room-book.ts';

export interface TrafficSides {
  readonly selfId: string;
  readonly peerId: string;
  /** Id of the newest message that the summary counts. */
  readonly lastSummarised: string | undefined;
}

/** `rooms`: all in which the two can talk; usually one. */
export function countTraffic(rooms: readonly RoomRecord[], sides: TrafficSides): PeerTraffic {
  const { selfId, peerId, lastSummarised } = sides;
  const all = inOrder(rooms);
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

function inOrder(rooms: readonly RoomRecord[]): readonly SeenMessage[] {
  const [only] = rooms;
  if (only !== undefined && rooms.length === 1) return only.seen;
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
