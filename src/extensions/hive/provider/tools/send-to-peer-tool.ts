// Owns the tool hivemind_send_to_peer (notes 1 and 6, B1; ADR 0023). Invariants: the owner's own line orders it or the owner is asked, with
// every word that would leave and the id to which it goes; what was weighed is what is sent, and what reached nobody for sure is not.
import { z } from 'zod';
import { type AnyTool, defineTool, type Risk, type ToolContext } from '#core/agent/tool.ts';
import { findPeer } from '../../peers/find-peer.ts';
import { PeerError } from '../../peers/peer-error.ts';
import type { KnownPeer, PeerTransport } from '../../peers/peer-transport.ts';
import { oneLine, plainText } from '../../peers/plain-text.ts';
import { callNames } from '../view/peers-known.ts';
import { refuseSecrets } from './no-secret.ts';
import { addresseeOf, ordersMessage } from './owner-orders.ts';
import { ownerWords } from './owner-words.ts';
import { answer, failure, type PeerToolParts, peerInput, peerName, TOOLSET } from './peer-tool.ts';
import { shownName } from './shown-peer.ts';

const MOST_BYTES = 32 * 1024;

const input = peerInput({ peer: peerName, message: z.string().min(1, 'say something') });

type Input = z.infer<typeof input>;

export function sendToPeerTool({ link }: PeerToolParts): AnyTool {
  /** To whom, as it was weighed, by the arguments that the loop hands to `risk` and then to `run`; `nobody`: none was known for sure. */
  const weighed = new WeakMap<Input, KnownPeer | 'nobody'>();
  const writtenTo = new Set<string>();
  return defineTool<Input>({
    name: 'hivemind_send_to_peer',
    description: 'Talk to a peer.',
    input,
    toolset: TOOLSET,
    effect: 'write',
    summary: ({ peer, message }) => `to ${oneLine(peer, 80)}: ${oneLine(message, 60)}`,
    risk: (asked, context) => {
      const peers = link.opened?.peers() ?? [];
      const known = weighed.get(asked) ?? knownAs(peers, asked.peer) ?? 'nobody';
      weighed.set(asked, known);
      if (known === 'nobody') return { level: 'none' };
      const wasWrittenTo = known.wasWrittenTo === true || writtenTo.has(known.peer.id);
      return riskOf(known, plainText(asked.message), isOrdered(context, known, { peers, wasWrittenTo }));
    },
    run: async (asked, { redact }, signal) => {
      const text = plainText(asked.message);
      if (text.trim() === '') return failure('say something');
      if (Buffer.byteLength(text) > MOST_BYTES) return failure('this is too large to send; at most 32 KiB go at once');
      return answer(
        link,
        async () => {
          refuseSecrets([asked.message, text], redact);
          const transport = await link.ready(signal);
          const before = weighed.get(asked);
          const { peer } = before === 'nobody' ? unseen(transport, asked) : (before ?? found(transport, asked));
          await transport.send(peer.id, text, signal);
          writtenTo.add(peer.id);
          return { sent: true, to: shownName(callNames(transport.peers())(peer)) };
        },
        signal,
      );
    },
  });
}

function isOrdered(
  { history }: ToolContext,
  known: KnownPeer,
  { peers, wasWrittenTo }: { readonly peers: readonly KnownPeer[]; readonly wasWrittenTo: boolean },
): boolean {
  return ordersMessage(ownerWords(history()), addresseeOf(known, peers, wasWrittenTo));
}

function riskOf({ peer: { id } }: KnownPeer, text: string, isOrder: boolean): Risk {
  if (isOrder) return { level: 'none' };
  return {
    level: 'ask',
    reason: 'sends a message to a peer that your line does not name',
    key: `send-peer:${id}`,
    preview: `to ${oneLine(id, 300)}:\n${text}`,
  };
}

function found(transport: PeerTransport, { peer }: Input): KnownPeer {
  return findPeer(transport.peers(), peer);
}

/** Nobody could be shown to whom it goes: says what is wrong with the name, else asks for another try. */
function unseen(transport: PeerTransport, asked: Input): never {
  found(transport, asked);
  const text = 'the peer was not known yet when this was weighed; try again now';
  throw new PeerError(text, { code: 'peer-unknown', forModel: text });
}

function knownAs(peers: readonly KnownPeer[], asked: string): KnownPeer | undefined {
  try {
    return findPeer(peers, asked);
  } catch (error) {
    if (error instanceof PeerError) return undefined;
    throw error;
  }
}
