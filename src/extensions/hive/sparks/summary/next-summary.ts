// Owns the summary that is stored: an answer with the bookkeeping from which the next one's time is told. Knows no transport.
// Invariant: `message_count_at_update` is a running total that a window of messages does not bound (notes on seed 004, B5).

import type { PeerMessage, PeerSummary } from '../../peers/peer.ts';
import type { KnownPeer } from '../../peers/peer-transport.ts';
import type { SummaryAnswer } from './summary-shape.ts';

export interface NextSummary {
  readonly known: KnownPeer;
  /** Newest first: what was read for the answer. */
  readonly messages: readonly PeerMessage[];
  readonly answer: SummaryAnswer;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly by: PeerSummary['by'];
}

export function nextSummary({ known, messages, answer, at, by }: NextSummary): PeerSummary {
  const before = known.summary;
  const newest = messages[0]?.id ?? before?.last_message_id;
  return {
    peer_name: known.peer.name,
    ...answer,
    last_updated: at,
    message_count_at_update: (before?.message_count_at_update ?? 0) + sinceBefore(known, messages),
    ...(newest === undefined ? {} : { last_message_id: newest }),
    by,
  };
}

/** Exact when the last one counted is among those read. */
function sinceBefore({ summary, traffic }: KnownPeer, messages: readonly PeerMessage[]): number {
  const last = summary?.last_message_id;
  const found = last === undefined ? -1 : messages.findIndex(({ id }) => id === last);
  return found === -1 ? Math.max(messages.length, traffic.sinceSummary) : found;
}
