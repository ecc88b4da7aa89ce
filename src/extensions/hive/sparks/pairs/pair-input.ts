// Owns what of two peers is shown to whoever weighs them: their summaries, capped. Knows no model. Seed 004, spark detector.
import { shortLine, shortLines } from '../answer/short-lines.ts';
import { SUMMARY_CAPS } from '../summary/summary-shape.ts';
import { PAIR_SCHEMA, type PairInput, type PairMember } from './pair-shape.ts';
import type { SummarisedPeer } from './summarised-peer.ts';

const LONGEST_NAME = 100;

export function pairInput(a: SummarisedPeer, b: SummarisedPeer): PairInput {
  return { schema_version: PAIR_SCHEMA, peers: [member(a), member(b)] };
}

/** A stored summary may have been written by anybody with our account, so it is capped again. */
function member({ peer, summary }: SummarisedPeer): PairMember {
  const { items, item, text } = SUMMARY_CAPS;
  return {
    name: shortLine(peer.name, LONGEST_NAME),
    needs: shortLines(summary.needs, items, item),
    offers: shortLines(summary.offers, items, item),
    expertise: shortLines(summary.expertise, items, item),
    summary_text: shortLine(summary.summary_text, text),
  };
}
