// Owns what of a peer is shown to whoever sums it up: its introduction and its newest messages, capped. Knows no model.
// Invariant: at most about 16,000 characters; the newest messages are those that stay; only readable text is passed on.
import { ellipsize, wellFormed } from '#base/text.ts';
import type { Peer, PeerMessage } from '../../peers/peer.ts';
import { SUMMARY_SCHEMA, type SummaryInput } from './summary-shape.ts';

const LONGEST_INTRODUCTION = 4_000;
const LONGEST_MESSAGE = 1_000;
const LONGEST_TOGETHER = 12_000;
const LONGEST_NAME = 100;

/** @param messages newest first, as a transport gives them */
export function summaryInput(peer: Peer, messages: readonly PeerMessage[]): SummaryInput {
  const shown: SummaryInput['messages'] = [];
  let length = 0;
  for (const message of messages) {
    if (message.state !== 'text') continue;
    const text = capped(message.text, LONGEST_MESSAGE);
    length += text.length;
    if (length > LONGEST_TOGETHER) break;
    shown.push({ author: authorOf(peer, message), from: capped(message.from, LONGEST_NAME), time: message.time, text });
  }
  return {
    schema_version: SUMMARY_SCHEMA,
    peer: { name: capped(peer.name, LONGEST_NAME) },
    introduction: { by: capped(peer.introduced_by, LONGEST_NAME), text: capped(peer.context, LONGEST_INTRODUCTION) },
    messages: shown.reverse(),
  };
}

function authorOf(peer: Peer, message: PeerMessage): 'peer' | 'me' | 'other' {
  if (message.mine) return 'me';
  return message.fromId === peer.id ? 'peer' : 'other';
}

function capped(text: string, most: number): string {
  return ellipsize(wellFormed(text), most);
}
