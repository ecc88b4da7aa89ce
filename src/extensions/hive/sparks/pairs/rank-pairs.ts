// Owns which pairs are weighed first: those whose needs and offers have the most words in common. Decides nothing else. Notes 6, B12.
// Invariant: deterministic; linear in the number of pairs, each summary being cut into words once.

import { pairKey } from '../../peers/pair-key.ts';
import type { PeerSummary } from '../../peers/peer.ts';
import { contentTokens } from '../words/content-tokens.ts';
import type { SummarisedPeer } from './summarised-peer.ts';

export type Pair = readonly [SummarisedPeer, SummarisedPeer];

interface Wanted {
  readonly needs: ReadonlySet<string>;
  readonly gives: ReadonlySet<string>;
}

/** Of summaries that are still there; a transport gives the same object until it changes. */
const known = new WeakMap<PeerSummary, Wanted>();

function wantedOf({ summary }: SummarisedPeer): Wanted {
  const wanted = known.get(summary) ?? readWanted(summary);
  known.set(summary, wanted);
  return wanted;
}

/** Best fit first; equal ones in the order of their ids. */
export function rankPairs(pairs: readonly Pair[]): Pair[] {
  return pairs
    .map((pair) => {
      const [a, b] = [wantedOf(pair[0]), wantedOf(pair[1])];
      const fit = common(a.needs, b.gives) + common(b.needs, a.gives);
      return { pair, fit, key: pairKey(pair[0].peer.id, pair[1].peer.id) };
    })
    .sort((left, right) => right.fit - left.fit || (left.key < right.key ? -1 : 1))
    .map(({ pair }) => pair);
}

function readWanted({ needs, offers, expertise }: PeerSummary): Wanted {
  const stems = (lines: readonly string[]) => new Set(lines.flatMap((line) => contentTokens(line).flat()));
  return { needs: stems(needs), gives: stems([...offers, ...expertise]) };
}

function common(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  let count = 0;
  for (const stem of left) if (right.has(stem)) count += 1;
  return count;
}
