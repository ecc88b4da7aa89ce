// Owns the tool hivemind_check_messages: any new messages, or the talk with one peer (notes 1; notes 11, H4 and H6: peers from what is
// known, messages from the network). Invariant: what it gave back counts as read; texts are foreign, capped one by one and together.
import type { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { ellipsize } from '#base/text.ts';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import { findPeer } from '../../peers/find-peer.ts';
import { oneLine } from '../../peers/plain-text.ts';
import { type ReadMessage, readMessages, readNews } from '../acts/read-messages.ts';
import { answer, type PeerToolParts, peerInput, peerName, TOOLSET } from './peer-tool.ts';

/** Characters of all texts of one answer; where they are more, each gets the same share. */
const ALL_TEXTS = 24_000;

const input = peerInput({ peer: peerName.optional() });

export function checkMessagesTool({ link, warn }: PeerToolParts): AnyTool {
  return defineTool<z.infer<typeof input>>({
    name: 'hivemind_check_messages',
    description: 'Any new messages? With a peer: the talk with it, newest first. What is shown counts as read.',
    input,
    toolset: TOOLSET,
    effect: 'read',
    summary: ({ peer }) => `messages ${oneLine(peer ?? '', 80)}`.trim(),
    run: ({ peer }, _context, signal) =>
      answer(
        link,
        async () => {
          const transport = await link.fresh(signal);
          const reading = { transport, warn };
          if (peer !== undefined)
            return shareSpace(await readMessages(reading, findPeer(transport.peers(), peer), signal));
          const { news, more } = await readNews(reading, signal);
          const limit = shareOf(news.flatMap(({ messages }) => messages));
          const shown = news.map(({ messages, ...rest }) => ({ ...rest, messages: cut(messages, limit) }));
          return more > 0 ? [...shown, { more_peers_with_new_messages: more }] : shown;
        },
        signal,
      ),
  });
}

function shareSpace(messages: readonly ReadMessage[]): JsonValue {
  return cut(messages, shareOf(messages));
}

function shareOf(messages: readonly ReadMessage[]): number {
  const total = messages.reduce((sum, { text }) => sum + text.length, 0);
  return total <= ALL_TEXTS ? total : Math.floor(ALL_TEXTS / messages.length);
}

function cut(messages: readonly ReadMessage[], limit: number) {
  return messages.map((message) => ({ ...message, text: ellipsize(message.text, limit) }));
}
