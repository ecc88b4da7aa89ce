// Owns the three tools that read: who is known, what was said, one peer (notes 1; notes 11, H3, H4, H6; R4.29, R4.50, R4.62, R4.64). Peers
// come from what the turn's prefetch brought, messages from the network. Invariants: a peer has the six fields and no other; what others
// wrote stands in JSON strings, capped one by one and together, without characters that nobody sees; what was given back counts as read.
import type { z } from 'zod';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { ellipsize } from '#base/text.ts';
import type { AnyTool } from '#core/agent/tool.ts';
import type { KnownPeer, Spark } from '../peer.ts';
import { findPeer, looksLikeId, oneLine, plainText } from '../peer-names.ts';
import { type PeerToolParts, peerInput, peerName, peerTool, shownName } from './peer-tool.ts';
import {
  byInterest,
  callNames,
  type Introducer,
  introducers,
  NOBODY,
  peersKnown,
  type ReadMessage,
  readMessages,
  readNews,
} from './peers-view.ts';

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
  const spec = {
    name: 'hivemind_list_peers',
    description: 'Who do I know? Your own id, the peers, and suggestions of two to introduce.',
    input: nothing,
    effect: 'read',
    summary: () => 'peers',
  } as const;
  return peerTool(link, spec, 'ready', async (transport, _asked, _context, signal) => {
    if (suggests) await link.suggested(signal);
    const { selfId, peers, sparks } = peersKnown(transport);
    const call = callNames(peers);
    const introducerOf = introducers(selfId, peers);
    const shown = byInterest(peers).slice(0, PEERS_SHOWN);
    const more = peers.length - shown.length;
    return {
      you: shownName(selfId),
      peers: shown.map((known) => shownPeer(known, introducerOf(known), CONTEXT_IN_LIST)),
      suggestions: (suggests ? sparks : []).slice(0, SUGGESTIONS_SHOWN).map((spark) => shownSpark(spark, call)),
      ...(more > 0 ? { more_peers: more } : {}),
    };
  });
}

const whoseMessages = peerInput({
  peer: peerName.optional().describe('Whose talk to show, newest first; leave out for what is new of all'),
});

export function checkMessagesTool({ link, warn }: PeerToolParts): AnyTool {
  const spec = {
    name: 'hivemind_check_messages',
    description: 'Any new messages? What is shown counts as read.',
    input: whoseMessages,
    effect: 'read',
    summary: ({ peer }: z.infer<typeof whoseMessages>) => `messages ${oneLine(peer ?? '', 80)}`.trim(),
  } as const;
  return peerTool(link, spec, 'fresh', async (transport, { peer }, _context, signal) => {
    if (peer !== undefined) {
      const messages = await readMessages({ transport, warn }, findPeer(transport.peers(), peer), signal);
      return cut(messages, shareOf(messages));
    }
    const { news, more } = await readNews({ transport, warn }, signal);
    const limit = shareOf(news.flatMap(({ messages }) => messages));
    const shown = news.map(({ messages, ...rest }) => ({ ...rest, messages: cut(messages, limit) }));
    return more > 0 ? [...shown, { more_peers_with_new_messages: more }] : shown;
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
  const spec = {
    name: 'hivemind_get_peer_info',
    description: 'Details about one peer: why you know it, who introduced it.',
    input: onePeer,
    effect: 'read',
    summary: ({ peer }: z.infer<typeof onePeer>) => `peer ${oneLine(peer, 80)}`,
  } as const;
  return peerTool(link, spec, 'ready', async (transport, { peer }) => {
    const peers = transport.peers();
    const known = findPeer(peers, peer);
    return shownPeer(known, introducers(transport.selfId, peers)(known), CONTEXT_ALONE);
  });
}

function shownPeer({ peer }: KnownPeer, introducer: Introducer, contextLimit: number): JsonObject {
  return {
    name: shownName(looksLikeId(peer.name) ? peer.id : peer.name),
    id: shownName(peer.id),
    context: ellipsize(plainText(peer.context), contextLimit),
    introduced_by: introducer.kind === 'somebody' ? shownName(introducer.called) : NOBODY[introducer.kind],
    introduced_at: peer.introduced_at,
    status: peer.status,
  };
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
