// Owns the tool hivemind_introduce_peers (notes 1; R4.30, R4.31, R4.41; ADR 0023). Invariants: nobody is introduced without the owner's yes,
// and the yes is to the very words that both will read: what was shown is what is sent.
import { z } from 'zod';
import { type AnyTool, defineTool, type Risk, type ToolContext } from '#core/agent/tool.ts';
import { pairKey } from '../../peers/pair-key.ts';
import { PeerError } from '../../peers/peer-error.ts';
import type { Introduction, KnownPeer, PeerTransport } from '../../peers/peer-transport.ts';
import { oneLine } from '../../peers/plain-text.ts';
import { draftIntroduction, findPair, introducePair, introductionText, type PeerPair } from '../acts/introduce.ts';
import { callNames } from '../view/peers-known.ts';
import { refuseSecrets } from './no-secret.ts';
import { addresseeOf, ordersIntroduction } from './owner-orders.ts';
import { ownerWords } from './owner-words.ts';
import { answer, type PeerToolParts, peerInput, peerName, TOOLSET } from './peer-tool.ts';
import { shownName } from './shown-peer.ts';

const input = peerInput({ peer_a: peerName, peer_b: peerName, reason: z.string().max(2_000).optional() });

type Input = z.infer<typeof input>;

interface Draft {
  readonly pair: PeerPair;
  readonly introduction: Introduction;
}

export function introducePeersTool({ link, clock, warn }: PeerToolParts): AnyTool {
  /** What was weighed, by the arguments that the loop hands to `risk` and then to `run`; `nothing`: there was nothing to show. */
  const weighed = new WeakMap<Input, Draft | 'nothing'>();
  return defineTool<Input>({
    name: 'hivemind_introduce_peers',
    description: 'Connect two peers; each is told about the other, and why.',
    input,
    toolset: TOOLSET,
    effect: 'write',
    summary: ({ peer_a, peer_b }) => `introduce ${oneLine(peer_a, 80)} and ${oneLine(peer_b, 80)}`,
    risk: (asked, context) => {
      const before = weighed.get(asked);
      const draft = before ?? (link.opened === undefined ? 'nothing' : draftOf(link.opened, asked));
      weighed.set(asked, draft);
      return draft === 'nothing' ? { level: 'none' } : riskOf(draft, link.opened?.peers() ?? [], context);
    },
    run: (asked, { redact }, signal) =>
      answer(
        link,
        async () => {
          const transport = await link.ready(signal);
          const before = weighed.get(asked);
          const { pair, introduction } =
            before === 'nothing' ? unseen(transport, asked) : (before ?? draft(transport, asked));
          refuseSecrets([introductionText(introduction), asked.reason ?? ''], redact);
          await introducePair({ transport, clock, warn }, pair, introduction, signal);
          const call = callNames(transport.peers());
          const { reason } = introduction;
          return {
            introduced: true,
            peer_a: shownName(call(pair.a.peer)),
            peer_b: shownName(call(pair.b.peer)),
            ...(reason === undefined ? {} : { reason }),
          };
        },
        signal,
      ),
  });
}

function draft(transport: PeerTransport, { peer_a, peer_b, reason }: Input): Draft {
  const pair = findPair(transport.peers(), peer_a, peer_b);
  return { pair, introduction: draftIntroduction(pair, reason) };
}

function draftOf(transport: PeerTransport, asked: Input): Draft | 'nothing' {
  try {
    return draft(transport, asked);
  } catch (error) {
    if (error instanceof PeerError) return 'nothing';
    throw error;
  }
}

/** Nobody could be shown what both would read: says what is wrong with the names, else asks for another try. */
function unseen(transport: PeerTransport, asked: Input): never {
  draft(transport, asked);
  const text = 'the peers were not known yet when this was weighed; try again now';
  throw new PeerError(text, { code: 'peer-unknown', forModel: text });
}

function riskOf({ pair, introduction }: Draft, peers: readonly KnownPeer[], { history }: ToolContext): Risk {
  const meant = (known: KnownPeer) => addresseeOf(known, peers, known.wasWrittenTo === true);
  if (ordersIntroduction(ownerWords(history()), meant(pair.a), meant(pair.b))) return { level: 'none' };
  const ids = [pair.a.peer.id, pair.b.peer.id].map((id) => oneLine(id, 300));
  return {
    level: 'ask',
    reason: 'introduces two peers to each other',
    key: `introduce-peers:${pairKey(pair.a.peer.id, pair.b.peer.id).replace('\n', ' ')}`,
    preview: `introduce ${ids.join(' and ')}; both will read:\n${introductionText(introduction)}`,
  };
}
