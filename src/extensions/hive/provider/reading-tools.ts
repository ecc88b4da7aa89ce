// Owns the three tools that read: who is known, what was said, one peer (notes 1; notes 11, H3, H4, H6; R4.29, R4.50, R4.62, R4.64). Peers
// come from what the turn's prefetch brought, messages from the network. Invariants: a peer has the six fields and no other; what others
// wrote stands in JSON strings, capped one by one and together, without characters that nobody sees; what was given back counts as read.
import type { z } from 'zod';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { ellipsize } from '#base/text.ts';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import { findPeer, looksLikeId } from '../peers/find-peer.ts';
import type { Spark } from '../peers/peer.ts';
import type { KnownPeer } from '../peers/peer-transport.ts';
import { oneLine, plainText } from '../peers/plain-text.ts';
import { answer, type PeerToolParts, peerInput, peerName, shownName, TOOLSET } from './peer-tool.ts';
import { byInterest, callNames, type Introducer, introducers, peersKnown } from './peers-known.ts';
import { type ReadMessage, readMessages, readNews } from './read-messages.ts';

const PEERS_SHOWN = 50;
const SUGGESTIONS_SHOWN = 20;
/** Characters of a context: where many peers are shown, and of one. */
const CONTEXT_IN_LIST = 600;
const CONTEXT_ALONE = 4_000;
/** Characters of all texts of one answer; where they are more, each gets the same share. */
const ALL_TEXTS = 24_000;

const nothing = peerInput({});

/** Waits for the engine of the turn, so that its suggestions are there. */
export function listPeersTool({ link, suggests }: PeerToolParts): AnyTool {
  return defineTool<z.infer<typeof nothing>>({
    name: 'hivemind_list_peers',
    description: 'Who do I know? Your own id, the peers, and suggestions of two to introduce.',
    input: nothing,
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
            you: shownName(selfId),
            peers: byInterest(peers)
              .slice(0, PEERS_SHOWN)
              .map((known) => shownPeer(known, introducerOf(known), CONTEXT_IN_LIST)),
            suggestions: (suggests ? sparks : []).slice(0, SUGGESTIONS_SHOWN).map((spark) => shownSpark(spark, call)),
            ...(more > 0 ? { more_peers: more } : {}),
          };
        },
        signal,
      ),
  });
}

const whoseMessages = peerInput({
  peer: peerName.optional().describe('Whose talk to show, newest first; leave out for what is new of all'),
});

export function checkMessagesTool({ link, warn }: PeerToolParts): AnyTool {
  return defineTool<z.infer<typeof whoseMessages>>({
    name: 'hivemind_check_messages',
    description: 'Any new messages? What is shown counts as read.',
    input: whoseMessages,
    toolset: TOOLSET,
    effect: 'read',
    summary: ({ peer }) => `messages ${oneLine(peer ?? '', 80)}`.trim(),
    run: ({ peer }, _context, signal) =>
      answer(
        link,
        async () => {
          const transport = await link.fresh(signal);
          const reading = { transport, warn };
          if (peer !== undefined) {
            const messages = await readMessages(reading, findPeer(transport.peers(), peer), signal);
            return cut(messages, shareOf(messages));
          }
          const { news, more } = await readNews(reading, signal);
          const limit = shareOf(news.flatMap(({ messages }) => messages));
          const shown = news.map(({ messages, ...rest }) => ({ ...rest, messages: cut(messages, limit) }));
          return more > 0 ? [...shown, { more_peers_with_new_messages: more }] : shown;
        },
        signal,
      ),
  });
}

function shareOf(messages: readonly ReadMessage[]): number {
  const total = messages.reduce((sum, { text }) => sum + text.length, 0);
  return total <= ALL_TEXTS ? total : Math.floor(ALL_TEXTS / messages.length);
}

function cut(messages: readonly ReadMessage[], limit: number): JsonValue & JsonObject[] {
  return messages.map((message) => ({ ...message, text: ellipsize(message.text, limit) }));
}

const onePeer = peerInput({ peer: peerName });

export function peerInfoTool({ link }: PeerToolParts): AnyTool {
  return defineTool<z.infer<typeof onePeer>>({
    name: 'hivemind_get_peer_info',
    description: 'Details about one peer: why you know it, who introduced it.',
    input: onePeer,
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
          return shownPeer(known, introducers(transport.selfId, peers)(known), CONTEXT_ALONE);
        },
        signal,
      ),
  });
}

function shownPeer({ peer }: KnownPeer, introducer: Introducer, contextLimit: number): JsonObject {
  return {
    name: shownName(looksLikeId(peer.name) ? peer.id : peer.name),
    id: shownName(peer.id),
    context: ellipsize(plainText(peer.context), contextLimit),
    introduced_by: introducedBy(introducer),
    introduced_at: peer.introduced_at,
    status: peer.status,
  };
}

function introducedBy(introducer: Introducer): string {
  if (introducer.kind === 'somebody') return shownName(introducer.called);
  return introducer.kind === 'self' ? 'nobody: you made contact' : 'nobody: it made contact';
}

/** `call` gives the id where the name is shared. */
function shownSpark(spark: Spark, call: ReturnType<typeof callNames>): JsonObject {
  return {
    peer_a: shownName(call({ name: spark.peer_a, id: spark.peer_a_id })),
    peer_b: shownName(call({ name: spark.peer_b, id: spark.peer_b_id })),
    reason: ellipsize(plainText(spark.reason), 400),
    confidence: spark.confidence,
    ...(spark.by === 'rule' ? { by: 'rule' } : {}),
  };
}
