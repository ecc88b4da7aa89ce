// Owns what the engine remembers of one transport between two runs: nothing of it is needed, it only saves asking again. Knows no model.
// Invariant: bounded; lost with the process, which costs nothing but time.
import type { Spark } from '../../peers/peer.ts';
import type { KnownPeer } from '../../peers/peer-transport.ts';

export interface EngineMemory {
  /** Peers that needed nothing when they were looked at, by id; see `stampOf`. */
  readonly seen: Map<string, string>;
  /** Peers whose summary failed, by id. */
  readonly resting: Map<string, Rest>;
  /** Pairs that are still to be weighed, by key. */
  readonly waiting: Map<string, readonly [string, string]>;
  /** Found, and not yet stored. */
  readonly unsaved: Spark[];
  /** Settles, never rejects, when the run under way is over. */
  tail: Promise<void>;
}

export interface Rest {
  readonly stamp: string;
  readonly tries: number;
  /** On the monotonic clock, ms. */
  readonly until: number;
}

export function createEngineMemory(): EngineMemory {
  return { seen: new Map(), resting: new Map(), waiting: new Map(), unsaved: [], tail: Promise.resolve() };
}

/** Differs as soon as there is something new to look at. */
export function stampOf({ peer, summary, traffic }: KnownPeer): string {
  return JSON.stringify([peer.context.length, summary?.last_updated ?? null, traffic.sinceSummary, traffic.lastAt]);
}

/** Peers that are gone are forgotten. */
export function forgetGone(memory: EngineMemory, known: readonly KnownPeer[]): void {
  const ids = new Set(known.map(({ peer }) => peer.id));
  for (const kept of [memory.seen, memory.resting]) for (const id of kept.keys()) if (!ids.has(id)) kept.delete(id);
}
