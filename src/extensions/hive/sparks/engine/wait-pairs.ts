// Owns which pairs wait to be weighed: those with a changed member and no spark of any status (seed 004; notes 6, B12). Asks nobody.
// Invariant: at most `MOST_WAITING`, the best fits; a pair that has a spark, or whose member left, does not wait.

import { pairKey, pairOf } from '../../peers/pair-key.ts';
import type { PeerTransport } from '../../peers/peer-transport.ts';
import { type Pair, rankPairs } from '../pairs/rank-pairs.ts';
import { summarisedPeers } from '../pairs/summarised-peer.ts';
import type { EngineMemory } from './engine-memory.ts';

const MOST_WAITING = 2_000;

/** The peer with this id was summed up anew: it may fit anybody else. */
export function awaitPairsOf(id: string, transport: PeerTransport, memory: EngineMemory): void {
  for (const { peer } of transport.peers())
    if (peer.id !== id && peer.status !== 'left') memory.waiting.set(pairKey(id, peer.id), [id, peer.id]);
}

/** Pairs that can be weighed now, best fit first. */
export function pairsToWeigh(transport: PeerTransport, { waiting, unsaved }: EngineMemory): readonly Pair[] {
  const settled = new Set([...transport.sparks(), ...unsaved].map(pairOf));
  const peers = summarisedPeers(transport.peers());
  const pairs: Pair[] = [];
  for (const [key, [left, right]] of waiting) {
    const [a, b] = [peers.get(left), peers.get(right)];
    if (a === undefined || b === undefined || settled.has(key)) waiting.delete(key);
    else pairs.push(a.peer.id < b.peer.id ? [a, b] : [b, a]);
  }
  const ranked = rankPairs(pairs);
  for (const [a, b] of ranked.slice(MOST_WAITING)) waiting.delete(pairKey(a.peer.id, b.peer.id));
  return ranked.slice(0, MOST_WAITING);
}
