// Owns reading what peers said, with which of it is new, and moving the read marks (hivemind notes 11, H4). Knows no tool and no surface.
// Invariant: what is marked as read was given back before; text is capped and harmless to show, and is foreign.
import { parseTime } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { ellipsize } from '#base/text.ts';
import { foldName, looksLikeId, peerName } from '../peers/find-peer.ts';
import type { PeerMessage } from '../peers/peer.ts';
import { PeerError } from '../peers/peer-error.ts';
import type { KnownPeer, PeerTraffic, PeerTransport } from '../peers/peer-transport.ts';
import { plainText } from '../peers/plain-text.ts';
import { byInterest, callNames } from './peers-known.ts';

export interface ReadMessage {
  readonly from: string;
  readonly text: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly new: boolean;
}

export interface PeerNews {
  readonly peer: string;
  /** New messages of the peer, at least. */
  readonly new: number;
  /** Newest first. */
  readonly messages: readonly ReadMessage[];
  /** Why there are none; speaks of peers alone. */
  readonly error?: string;
}

export interface Reading {
  readonly transport: PeerTransport;
  /** One sentence for the owner when a mark could not be kept. */
  readonly warn: (problem: string) => void;
}

const TEXT_LIMIT = 4_000;
const MESSAGES = 20;
const MOST_MESSAGES = 50;
const PEERS = 10;
/** With fewer peers that have news, the last words of those heard of last are given too. */
const AT_LEAST_PEERS = 3;
const LAST_WORDS = 3;

/** The talk with one peer, newest first; all of it counts as read. */
export async function readMessages(
  { transport, warn }: Reading,
  known: KnownPeer,
  signal: AbortSignal,
): Promise<readonly ReadMessage[]> {
  return read({ transport, warn }, known, { limit: limitFor(known), signal });
}

export interface News {
  readonly news: readonly PeerNews[];
  /** Peers with new messages that are not among them. */
  readonly more: number;
}

/** Of every peer with new messages, at most ten; then of those heard of last. Throws when nobody could be read. */
export async function readNews(reading: Reading, signal: AbortSignal): Promise<News> {
  const peers = reading.transport.peers();
  const waiting = byInterest(peers).filter(({ traffic }) => traffic.unread > 0);
  const quiet = byInterest(peers).filter(({ traffic }) => traffic.unread === 0 && traffic.lastAt > 0);
  const chosen = [
    ...waiting.slice(0, PEERS),
    ...(waiting.length < AT_LEAST_PEERS ? quiet.slice(0, AT_LEAST_PEERS - waiting.length) : []),
  ];
  const call = callNames(peers);
  const news: PeerNews[] = [];
  let failure: PeerError | undefined;
  for (const known of chosen) {
    const peer = plainText(call(known.peer));
    try {
      const limit = known.traffic.unread > 0 ? limitFor(known) : LAST_WORDS;
      const messages = toTheOldestNew(await read(reading, known, { limit, signal }));
      news.push({ peer, new: messages.filter((message) => message.new).length, messages });
    } catch (error) {
      if (!(error instanceof PeerError)) throw error;
      failure = error;
      news.push({ peer, new: known.traffic.unread, messages: [], error: error.forModel });
    }
  }
  if (failure !== undefined && news.every(({ error }) => error !== undefined)) throw failure;
  return { news, more: Math.max(0, waiting.length - PEERS) };
}

function limitFor({ traffic }: KnownPeer): number {
  return Math.min(MOST_MESSAGES, Math.max(MESSAGES, traffic.unread));
}

/** With the one message before, to which it may be an answer. */
function toTheOldestNew(messages: readonly ReadMessage[]): readonly ReadMessage[] {
  const oldest = messages.findLastIndex((message) => message.new);
  return messages.slice(0, Math.max(LAST_WORDS, oldest + 2));
}

async function read(
  { transport, warn }: Reading,
  { peer, traffic }: KnownPeer,
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal },
): Promise<readonly ReadMessage[]> {
  const messages = await transport.messages(peer.id, { limit }, signal);
  const fresh = newIds(messages, peer.id, traffic);
  const call = speakers(transport.selfId, peer.id);
  await mark(transport, { peerId: peer.id, newest: messages[0], warn }, signal);
  return messages.map((message) => ({
    from: plainText(call(message)),
    text: ellipsize(plainText(message.text), TEXT_LIMIT),
    time: message.time,
    new: fresh.has(message.id),
  }));
}

/** What to call who said it: the name, or the id where it could be taken for that of another of the two who talk. */
function speakers(selfId: string, peerId: string): (message: PeerMessage) => string {
  return ({ from, fromId }) => {
    const isTaken = [selfId, peerId].some((id) => id !== fromId && foldName(peerName(id)) === foldName(from));
    return isTaken || looksLikeId(from) ? fromId : from;
  };
}

/** The newest messages of the peer, as many as were unread, and those that came since they were counted. */
function newIds(
  messages: readonly PeerMessage[],
  peerId: string,
  { unread, lastAt }: PeerTraffic,
): ReadonlySet<string> {
  const theirs = messages.filter(({ fromId }) => fromId === peerId);
  const late = theirs.filter(({ time }) => (parseTime(time) ?? 0) > lastAt).length;
  return new Set(theirs.slice(0, late + unread).map(({ id }) => id));
}

/** What was read is given back even when the mark cannot be kept: then it is new once more. */
async function mark(
  transport: PeerTransport,
  {
    peerId,
    newest: message,
    warn,
  }: { readonly peerId: string; readonly newest: PeerMessage | undefined; readonly warn: (problem: string) => void },
  signal: AbortSignal,
): Promise<void> {
  if (message === undefined) return;
  try {
    await transport.markRead(peerId, message.id, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    warn(`peers: messages could not be marked as read: ${errorText(error)}`);
  }
}
