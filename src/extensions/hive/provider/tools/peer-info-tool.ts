// Owns the tool hivemind_get_peer_info: one peer, or why there is none (notes 1; R4.62, R4.69).
import type { z } from 'zod';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import { findPeer } from '../../peers/find-peer.ts';
import { oneLine } from '../../peers/plain-text.ts';
import { introducers } from '../view/introducer.ts';
import { answer, type PeerToolParts, peerInput, peerName, TOOLSET } from './peer-tool.ts';
import { shownPeer } from './shown-peer.ts';

const CONTEXT_SHOWN = 4_000;

const input = peerInput({ peer: peerName });

export function peerInfoTool({ link }: PeerToolParts): AnyTool {
  return defineTool<z.infer<typeof input>>({
    name: 'hivemind_get_peer_info',
    description: 'Details about one peer: why you know it, who introduced it.',
    input,
    toolset: TOOLSET,
    effect: 'read',
    summary: ({ peer }) => `peer ${oneLine(peer, 80)}`,
    run: ({ peer }, _context, signal) =>
      answer(
        link,
        async () => {
          const transport = await link.ready(signal);
          const peers = transport.peers();
          const known = findPeer(peers, peer);
          return shownPeer(known, introducers(transport.selfId, peers)(known), CONTEXT_SHOWN);
        },
        signal,
      ),
  });
}
