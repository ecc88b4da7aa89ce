// Owns the tool hivemind_list_peers: who is known, and whom to introduce (R4.12, R4.29, R4.50; notes 11, H3). Answers from what the turn's
// prefetch brought and waits for the engine of that turn, so that its suggestions are there.
import type { z } from 'zod';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import { introducers } from '../view/introducer.ts';
import { byInterest, callNames, peersKnown } from '../view/peers-known.ts';
import { answer, type PeerToolParts, peerInput, TOOLSET } from './peer-tool.ts';
import { shownPeer, shownSpark } from './shown-peer.ts';

const PEERS_SHOWN = 50;
const SUGGESTIONS_SHOWN = 20;
const CONTEXT_SHOWN = 600;

const input = peerInput({});

export function listPeersTool({ link, suggests }: PeerToolParts): AnyTool {
  return defineTool<z.infer<typeof input>>({
    name: 'hivemind_list_peers',
    description: 'Who do I know? Peers, and suggestions of two to introduce.',
    input,
    toolset: TOOLSET,
    effect: 'read',
    summary: () => 'peers',
    run: (_input, _context, signal) =>
      answer(
        link,
        async () => {
          const transport = await link.ready(signal);
          if (suggests) await link.suggested(signal);
          const { selfId, peers, sparks } = peersKnown(transport);
          const call = callNames(peers);
          const introducerOf = introducers(selfId, peers);
          const more = peers.length - PEERS_SHOWN;
          return {
            peers: byInterest(peers)
              .slice(0, PEERS_SHOWN)
              .map((known) => shownPeer(known, introducerOf(known), CONTEXT_SHOWN)),
            suggestions: (suggests ? sparks : []).slice(0, SUGGESTIONS_SHOWN).map((spark) => shownSpark(spark, call)),
            ...(more > 0 ? { more_peers: more } : {}),
          };
        },
        signal,
      ),
  });
}
