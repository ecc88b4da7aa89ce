// Owns which peers a run looks at and which of them get a summary (seed 004: 5+ new messages; notes 4: ten looked at, two written).
// Asks nobody. Invariant: newest traffic first; a peer in which nothing moved is looked at once, so that the quiet ones have their turn.
import type { KnownPeer } from '../../peers/peer-transport.ts';
import { type EngineMemory, stampOf } from './engine-memory.ts';

/** New messages that make a summary stale. */
const STALE_AFTER = 5;
const MOST_LOOKED_AT = 10;
const MOST_SUMMARIES = 2;

/** @param now monotonic, ms */
export function chooseStale(known: readonly KnownPeer[], memory: EngineMemory, now: number): readonly KnownPeer[] {
  const lookedAt = known
    .filter((one) => one.peer.status !== 'left' && memory.seen.get(one.peer.id) !== stampOf(one))
    .filter((one) => !rests(one, memory, now))
    .toSorted(newestFirst)
    .slice(0, MOST_LOOKED_AT);
  for (const one of lookedAt) if (!isStale(one)) memory.seen.set(one.peer.id, stampOf(one));
  return lookedAt.filter(isStale).slice(0, MOST_SUMMARIES);
}

function isStale({ summary, traffic }: KnownPeer): boolean {
  return summary === undefined || traffic.sinceSummary >= STALE_AFTER;
}

function rests(one: KnownPeer, memory: EngineMemory, now: number): boolean {
  const rest = memory.resting.get(one.peer.id);
  return rest !== undefined && rest.stamp === stampOf(one) && now < rest.until;
}

function newestFirst(left: KnownPeer, right: KnownPeer): number {
  if (left.traffic.lastAt !== right.traffic.lastAt) return right.traffic.lastAt - left.traffic.lastAt;
  const [a, b] = [left.peer.introduced_at, right.peer.introduced_at];
  if (a !== b) return a < b ? 1 : -1;
  return left.peer.id < right.peer.id ? -1 : 1;
}
