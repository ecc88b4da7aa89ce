// Owns the tool hivemind_dismiss_spark: a suggestion declined for good (notes 1 and 6, B16; R4.28, R4.30). Nothing is sent to anybody.
import type { z } from 'zod';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import { oneLine } from '../../peers/plain-text.ts';
import { dismissPair, findPair } from '../acts/introduce.ts';
import { callNames } from '../view/peers-known.ts';
import { answer, type PeerToolParts, peerInput, peerName, TOOLSET } from './peer-tool.ts';
import { shownName } from './shown-peer.ts';

const input = peerInput({ peer_a: peerName, peer_b: peerName });

export function dismissSparkTool({ link, clock, warn }: PeerToolParts): AnyTool {
  return defineTool<z.infer<typeof input>>({
    name: 'hivemind_dismiss_spark',
    description: 'Decline a suggestion for good.',
    input,
    toolset: TOOLSET,
    effect: 'write',
    summary: ({ peer_a, peer_b }) => `dismiss ${oneLine(peer_a, 80)} and ${oneLine(peer_b, 80)}`,
    run: ({ peer_a, peer_b }, _context, signal) =>
      answer(
        link,
        async () => {
          const transport = await link.ready(signal);
          const pair = findPair(transport.peers(), peer_a, peer_b);
          const { matched } = await dismissPair({ transport, clock, warn }, pair, signal);
          const call = callNames(transport.peers());
          const [a, b] = [pair.a, pair.b].map(({ peer }) => shownName(call(peer)));
          return { dismissed: true, peer_a: a, peer_b: b, matched };
        },
        signal,
      ),
  });
}
