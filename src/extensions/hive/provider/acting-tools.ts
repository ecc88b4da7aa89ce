// Owns the three tools that act: send, introduce, dismiss (notes 1; 6, B1 and B16; ADR 0023, 0029; R4.28, R4.30, R4.31, R4.41). Invariants:
// what leaves this machine was approved word for word, with everybody who reads it, or goes to a peer of `peers.allow_send`; what was shown
// is what is sent, and to the id that was shown; nothing that the owner typed is read for an order; an introduction is asked for anew each time.
import { z } from 'zod';
import { foldText } from '#base/text/fold.ts';
import type { AnyTool, Risk, ToolContext } from '#core/agent/tool.ts';
import {
  dismissPair,
  draftIntroduction,
  findPair,
  introducePair,
  introductionLines,
  type PeerPair,
} from '../introductions.ts';
import { type Introduction, type KnownPeer, leftPeer, PeerError, type PeerTransport } from '../peer.ts';
import { findPeer, oneLine, plainText } from '../peer-names.ts';
import type { PeerLink } from './peer-link.ts';
import { type PeerToolParts, pairNames, peerInput, peerName, peerTool, shownName } from './peer-tool.ts';
import { callNames } from './peers-view.ts';

const MOST_BYTES = 32 * 1024;

const letter = peerInput({
  peer: peerName,
  message: z.string().min(1, 'say something').describe('Sent as it stands, after the owner has seen it'),
});

type Letter = z.infer<typeof letter>;

interface LetterDraft {
  readonly to: KnownPeer;
  readonly text: string;
}

export function sendToPeerTool({ link, allowSend }: PeerToolParts): AnyTool {
  const drafts = keepDrafts(link, draftLetter);
  const spec = {
    name: 'hivemind_send_to_peer',
    description: 'Talk to a peer.',
    input: letter,
    effect: 'write',
    summary: ({ peer, message }: Letter) => `to ${oneLine(peer, 80)}: ${oneLine(message, 60)}`,
    risk: (asked: Letter, context: ToolContext): Risk => {
      const draft = drafts.weigh(asked, context);
      if (draft === undefined || allowSend.includes(draft.to.peer.id)) return { level: 'none' };
      return riskOf(draft, link.opened?.selfId);
    },
  } as const;
  return peerTool(link, spec, 'ready', async (transport, asked, context, signal) => {
    const { to, text } = drafts.weighed(transport, asked, context);
    await transport.send(to.peer.id, text, signal);
    return { sent: true, to: shownName(callNames(transport.peers())(to.peer)) };
  });
}

function draftLetter(transport: PeerTransport, { peer, message }: Letter, { redact }: ToolContext): LetterDraft {
  const text = plainText(message);
  if (text.trim() === '') throw refused('say something');
  if (Buffer.byteLength(text) > MOST_BYTES) throw refused('this is too large to send; at most 32 KiB go at once');
  const to = findPeer(transport.peers(), peer);
  if (to.peer.status === 'left') throw leftPeer(to.peer.id);
  refuseSecrets([message, text], redact);
  return { to, text };
}

function riskOf({ to, text }: LetterDraft, selfId: string | undefined): Risk {
  const id = oneLine(to.peer.id, 300);
  const by = to.introducedById;
  const introducer = by === undefined ? 'whoever introduced you' : `${oneLine(by, 300)}, who introduced you,`;
  const others = by === selfId || by === to.peer.id ? [] : [`${introducer} can read along`];
  const readers = [...others, ...(to.isProtected ? [] : ['not encrypted'])].join('; ');
  const seen = readers === '' ? '' : ` (${readers})`;
  return {
    level: 'ask',
    reason: 'sends a message to a peer that is not in peers.allow_send',
    // A yes for good holds as long as the same can read it.
    key: `send-peer:${to.peer.id}${seen}`,
    reach: 'network',
    preview: `to ${id}${seen}:\n${text}`,
  };
}

const pair = peerInput(pairNames);
const introduced = peerInput({
  ...pairNames,
  reason: z.string().max(2_000).optional().describe('Why they should meet; both read it'),
});

type Introduced = z.infer<typeof introduced>;

interface PairDraft {
  readonly pair: PeerPair;
  readonly introduction: Introduction;
}

export function introducePeersTool({ link, clock, warn }: PeerToolParts): AnyTool {
  const drafts = keepDrafts(link, draftPair);
  const spec = {
    name: 'hivemind_introduce_peers',
    description: 'Connect two peers; each is told about the other, and why.',
    input: introduced,
    effect: 'write',
    summary: ({ peer_a, peer_b }: Introduced) => `introduce ${oneLine(peer_a, 80)} and ${oneLine(peer_b, 80)}`,
    risk: (asked: Introduced, context: ToolContext): Risk => {
      const draft = drafts.weigh(asked, context);
      if (draft === undefined) return { level: 'none' };
      const ids = [draft.pair.a.peer.id, draft.pair.b.peer.id].map((id) => oneLine(id, 300));
      const told = introductionLines(draft.introduction).join('\n');
      return {
        level: 'ask',
        reason: 'introduces two peers to each other, which is asked each time',
        key: '',
        reach: 'network',
        preview: `introduce ${ids.join(' and ')}; both will read:\n${told}`,
      };
    },
  } as const;
  return peerTool(link, spec, 'ready', async (transport, asked, context, signal) => {
    const { pair, introduction } = drafts.weighed(transport, asked, context);
    await introducePair({ transport, clock, warn }, pair, introduction, signal);
    const { reason } = introduction;
    return { introduced: true, ...shownPair(transport, pair), ...(reason === undefined ? {} : { reason }) };
  });
}

function draftPair(
  transport: PeerTransport,
  { peer_a, peer_b, reason }: Introduced,
  { redact }: ToolContext,
): PairDraft {
  const found = findPair(transport.peers(), peer_a, peer_b);
  const introduction = draftIntroduction(found, reason);
  refuseSecrets([introductionLines(introduction).join('\n'), reason ?? ''], redact);
  return { pair: found, introduction };
}

export function dismissSparkTool({ link, clock, warn }: PeerToolParts): AnyTool {
  const spec = {
    name: 'hivemind_dismiss_spark',
    description: 'Decline a suggestion for good.',
    input: pair,
    effect: 'write',
    summary: ({ peer_a, peer_b }: z.infer<typeof pair>) => `dismiss ${oneLine(peer_a, 80)} and ${oneLine(peer_b, 80)}`,
  } as const;
  return peerTool(link, spec, 'ready', async (transport, { peer_a, peer_b }, _context, signal) => {
    const found = findPair(transport.peers(), peer_a, peer_b);
    const { matched } = await dismissPair({ transport, clock, warn }, found, signal);
    return { dismissed: true, ...shownPair(transport, found), matched };
  });
}

function shownPair(transport: PeerTransport, { a, b }: PeerPair) {
  const call = callNames(transport.peers());
  return { peer_a: shownName(call(a.peer)), peer_b: shownName(call(b.peer)) };
}

/** What a call would do, drafted once, when it is weighed; by the arguments that the loop hands to `risk` and then to `run`. */
function keepDrafts<Input extends object, Draft>(
  link: PeerLink,
  make: (transport: PeerTransport, asked: Input, context: ToolContext) => Draft,
) {
  const kept = new WeakMap<Input, Draft | 'nothing'>();
  const drafted = (asked: Input, context: ToolContext): Draft | 'nothing' => {
    try {
      return link.opened === undefined ? 'nothing' : make(link.opened, asked, context);
    } catch (error) {
      if (error instanceof PeerError) return 'nothing';
      throw error;
    }
  };
  return {
    /** Undefined: there is nothing that could be shown, and nothing will be done. */
    weigh: (asked: Input, context: ToolContext): Draft | undefined => {
      const draft = kept.get(asked) ?? drafted(asked, context);
      kept.set(asked, draft);
      return draft === 'nothing' ? undefined : draft;
    },
    /** Throws what is wrong with it; where nobody could be shown it, asks for another try. */
    weighed: (transport: PeerTransport, asked: Input, context: ToolContext): Draft => {
      const draft = kept.get(asked);
      if (draft !== undefined && draft !== 'nothing') return draft;
      const late = make(transport, asked, context);
      if (draft === undefined) return late;
      throw refused('the peers were not known yet when this was weighed; try again now');
    },
  };
}

function refused(text: string): PeerError {
  return new PeerError(text, { code: 'peer-not-sent', forModel: text });
}

/** Throws when one of the texts holds what redaction would change, as it stands or as whoever gets it can put it together. */
function refuseSecrets(texts: readonly string[], redact: (text: string) => string): void {
  const readings = texts.flatMap((text) => {
    const seen = foldText(text, 'seen');
    return [text, text.replace(/\s+/g, ''), seen, seen.replace(/\s+/g, '')];
  });
  if (readings.every((text) => redact(text) === text)) return;
  throw new PeerError('what should be sent holds a secret', { code: 'peer-secret', fix: 'Say it without the secret.' });
}
