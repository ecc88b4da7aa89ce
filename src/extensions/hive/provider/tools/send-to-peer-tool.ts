// Owns the tool hivemind_send_to_peer (notes 1 and 6, B1; ADR 0023). Invariants: the owner's own line names the peer or the owner is asked,
// with every word that would leave; what would reach nobody for sure is not sent.
import { z } from 'zod';
import { type AnyTool, defineTool, type Risk, type ToolContext } from '#core/agent/tool.ts';
import { findPeer } from '../../peers/find-peer.ts';
import { PeerError } from '../../peers/peer-error.ts';
import type { KnownPeer } from '../../peers/peer-transport.ts';
import type { PeerLink } from '../peer-link.ts';
import { callNames } from '../view/peers-known.ts';
import { oneLine, plainText } from '../view/plain-text.ts';
import { refuseSecrets } from './no-secret.ts';
import { namesPeer, ownerWords } from './owner-words.ts';
import { answer, failure, type PeerToolParts, peerInput, peerName, TOOLSET } from './peer-tool.ts';
import { shownName } from './shown-peer.ts';

const MOST_BYTES = 32 * 1024;

const input = peerInput({ peer: peerName, message: z.string().min(1, 'say something') });

type Input = z.infer<typeof input>;

export function sendToPeerTool({ link }: PeerToolParts): AnyTool {
  return defineTool<Input>({
    name: 'hivemind_send_to_peer',
    description: 'Talk to a peer.',
    input,
    toolset: TOOLSET,
    effect: 'write',
    summary: ({ peer, message }) => `to ${oneLine(peer, 80)}: ${oneLine(message, 60)}`,
    risk: (asked, context) => riskOf(link, asked, context),
    run: async ({ peer, message }, { redact }, signal) => {
      if (Buffer.byteLength(message) > MOST_BYTES)
        return failure('this is too large to send; at most 32 KiB go at once');
      return answer(
        link,
        async () => {
          refuseSecrets([message], redact);
          const transport = await link.ready(signal);
          const found = findPeer(transport.peers(), peer);
          await transport.send(found.peer.id, message, signal);
          return { sent: true, to: shownName(callNames(transport.peers())(found.peer)) };
        },
        signal,
      );
    },
  });
}

/** Of a peer that is not known yet, the very word that was given must be the owner's. */
function riskOf(link: PeerLink, { peer, message }: Input, { history }: ToolContext): Risk {
  const words = ownerWords(history());
  const peers = link.opened?.peers() ?? [];
  const found = knownAs(peers, peer);
  const named = namesPeer(
    words,
    found?.peer ?? { name: peer, id: peer },
    found === undefined || peers.filter((other) => other.peer.name === found.peer.name).length === 1,
  );
  if (named) return { level: 'none' };
  const id = found?.peer.id ?? peer;
  return {
    level: 'ask',
    reason: 'sends a message to a peer that your line does not name',
    key: `send-peer:${id}`,
    preview: `to ${oneLine(id, 300)}:\n${plainText(message)}`,
  };
}

function knownAs(peers: readonly KnownPeer[], asked: string): KnownPeer | undefined {
  try {
    return findPeer(peers, asked);
  } catch (error) {
    if (error instanceof PeerError) return undefined;
    throw error;
  }
}
