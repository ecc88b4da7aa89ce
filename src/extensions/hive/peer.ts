// Owns the data model of the peer layer, the PeerTransport seam (how one agent reaches its peers and keeps its notes about them; implemented by
// matrix and peer-hub, contract suite: test/contract/hive/hive-transport.contract.ts) and what can go wrong there (seed 004; hivemind notes
// 3, 11). Knows no protocol. Invariants: plain readonly JSON data; a peer's own words are foreign text; no error holds a secret, `message` and
// `fix` are the owner's and may name server and variable, `forModel` is what a model reads and speaks of peers alone.
import { z } from 'zod';
import { TalariaError, type TalariaErrorOptions } from '#base/errors.ts';

/** What the agent sees of a peer: exactly these six fields (R4.62). */
export interface Peer {
  /** The user part of its id, e.g. `hermes-of-carol`. Two peers may share it. */
  readonly name: string;
  /** Opaque and unique, e.g. `hermes-of-carol@localhost`. */
  readonly id: string;
  /** Why the two were connected, in the introducer's words; empty when nothing was said. */
  readonly context: string;
  /** Name of who introduced it; for one who made contact directly, its own name. */
  readonly introduced_by: string;
  /** ISO 8601, UTC. */
  readonly introduced_at: string;
  /** `invited`: has not come yet; `left`: has gone, cannot be written to. */
  readonly status: 'active' | 'invited' | 'left';
}

const phrases = z.array(z.string()).readonly();

export const peerSummarySchema = z.object({
  peer_name: z.string(),
  needs: phrases,
  offers: phrases,
  expertise: phrases,
  summary_text: z.string(),
  /** ISO 8601, UTC. */
  last_updated: z.string(),
  /** Running total of messages that were counted up to this summary. */
  message_count_at_update: z.int().min(0),
  /** Id of the newest message that was counted; absent when there was none. */
  last_message_id: z.string().exactOptional(),
  /** `rule`: no model had a part in it. */
  by: z.enum(['model', 'rule']).default('model'),
});

/** What a peer needs and offers, drawn from its introduction and its messages. */
export type PeerSummary = Readonly<z.infer<typeof peerSummarySchema>>;

const peerId = z.string().min(3).max(300);

export const sparkSchema = z.object({
  /** 8 hex digits. */
  id: z.string().min(1).max(64),
  peer_a: z.string(),
  peer_b: z.string(),
  peer_a_id: peerId,
  peer_b_id: peerId,
  reason: z.string(),
  confidence: z.enum(['high', 'medium', 'low']),
  /** ISO 8601, UTC. */
  created_at: z.string(),
  status: z.enum(['pending', 'executed', 'dismissed']),
  by: z.enum(['model', 'rule']).default('model'),
});

/** A suggestion to introduce two peers. Names are for showing, ids tell them apart (notes 6, B2). */
export type Spark = Readonly<z.infer<typeof sparkSchema>>;
export type Confidence = Spark['confidence'];
export type SparkStatus = Spark['status'];

export interface PeerMessage {
  readonly id: string;
  /** Name of who wrote it. */
  readonly from: string;
  /** Opaque id of who wrote it. */
  readonly fromId: string;
  readonly mine: boolean;
  /** Foreign text, capped; a fixed sentence of ours when `state` is not `text`. */
  readonly text: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  /** `unreadable`: encrypted with a key that we lack; `clear`: came unprotected where protection was promised. */
  readonly state: 'text' | 'unreadable' | 'clear' | 'removed';
}

/** What a transport knows of one peer without asking anybody. */
export interface KnownPeer {
  readonly peer: Peer;
  readonly summary?: PeerSummary;
  readonly traffic: PeerTraffic;
  /** Messages to this peer leave encrypted. */
  readonly isProtected: boolean;
  /** Opaque id of who introduced it: names can be shared, so ids are compared. Its own when it made contact, ours when we did. */
  readonly introducedById?: string;
}

export interface PeerTraffic {
  /** Messages of both sides since the summary's `last_message_id`; of all that are known when there is no summary. */
  readonly sinceSummary: number;
  /** Messages of the peer since the read mark. */
  readonly unread: number;
  /** There may be more than was counted. */
  readonly atLeast: boolean;
  /** Epoch ms of the newest message; 0 when there is none. */
  readonly lastAt: number;
}

export interface Introduction {
  /** Opaque ids of two known peers. */
  readonly a: string;
  readonly b: string;
  readonly contextOfA: string;
  readonly contextOfB: string;
  readonly reason?: string;
}

/** First contact with somebody that nobody introduced. */
export interface Contact {
  /** Opaque id. */
  readonly id: string;
  /** What we keep about the other. */
  readonly context: string;
  /** What the other is told about us. */
  readonly about: string;
}

/** For the owner's eyes, in `peers doctor` and notices; never for the model. */
export interface TransportReport {
  readonly checks: readonly {
    readonly ok: boolean;
    readonly name: string;
    readonly detail: string;
    readonly fix?: string;
  }[];
}

/**
 * Contract. Nothing runs between calls: no timer, no thread, no open request. Every method but `peers`, `sparks` and `close` may ask the
 * network and throws PeerError for what the network did, the signal's reason when aborted. After a throw everything that was known is
 * still known, and nothing was sent twice or to anybody else. Unknown ids throw `peer-unknown`. Calls may overlap.
 */
export interface PeerTransport {
  /** Opaque id of this agent. */
  readonly selfId: string;
  /** Takes in what is new; accepts introductions. Returns sentences for the owner (an invitation that was not accepted, and why). */
  refresh(signal: AbortSignal): Promise<readonly string[]>;
  /** In order of their introduction, oldest first; each id once. What the last refresh brought, and changes made since. */
  peers(): readonly KnownPeer[];
  /** Newest first, at most `limit` (default 20). */
  messages(id: string, options: { readonly limit?: number }, signal: AbortSignal): Promise<readonly PeerMessage[]>;
  /** Refuses a peer that left. */
  send(id: string, text: string, signal: AbortSignal): Promise<{ readonly messageId: string }>;
  /** Connects two peers and tells each what is said about both. The same pair again within one process is the same introduction. */
  introduce(introduction: Introduction, signal: AbortSignal): Promise<void>;
  contact(contact: Contact, signal: AbortSignal): Promise<void>;
  keepSummary(id: string, summary: PeerSummary, signal: AbortSignal): Promise<void>;
  /** Moves the read mark forward; an older message than the mark changes nothing. */
  markRead(id: string, messageId: string, signal: AbortSignal): Promise<void>;
  /** Every spark that was ever kept. */
  sparks(): readonly Spark[];
  /** Adds and changes by pair, after merging with what another process kept meanwhile; `change` may run again. Returns all. */
  changeSparks(change: (sparks: readonly Spark[]) => readonly Spark[], signal: AbortSignal): Promise<readonly Spark[]>;
  /** Looks at everything that a working connection needs; never throws for what it finds. */
  examine(signal: AbortSignal): Promise<TransportReport>;
  /** Safe to call twice. */
  close(): Promise<void>;
}

/** By code, what a model hears of it. */
const FOR_MODEL = {
  'peers-not-configured': 'the peer network is not configured',
  /** Refused, DNS, TLS, reset. */
  'peers-unreachable': 'the peer network cannot be reached',
  'peers-timeout': 'the peer network did not answer in time',
  /** The token is unknown or expired. */
  'peers-auth': 'the peer network does not accept our sign-in; the owner has to sign in again',
  'peers-forbidden': 'the peer network does not allow this',
  'peers-rate-limited': 'the peer network asks us to wait; try again later',
  'peers-server-error': 'the peer network has a fault',
  /** HTML, broken JSON, a shape that no server of this kind gives. */
  'peers-bad-response': 'the peer network gave an answer that cannot be read',
  'peers-too-large': 'this is too large to send',
  'peers-encryption': 'this could not be encrypted, so nothing was sent',
  'peer-unknown': 'there is no such peer',
  'peer-ambiguous': 'several peers have this name',
  'peer-left': 'this peer has left',
  /** Nothing to send, too much, or not shown to the owner. */
  'peer-not-sent': 'nothing was sent',
  'peer-secret': 'this holds a secret, so nothing was sent; say it without the secret',
} as const;

export type PeerErrorCode = keyof typeof FOR_MODEL;

export interface PeerErrorOptions extends TalariaErrorOptions {
  readonly code: PeerErrorCode;
  /** HTTP status, when a server answered. */
  readonly status?: number;
  /** The server's own word for it, e.g. `M_NOT_FOUND`. */
  readonly errcode?: string;
  readonly retryAfterMs?: number;
  /** Default by code. */
  readonly forModel?: string;
}

export class PeerError extends TalariaError {
  override readonly name = 'PeerError';
  readonly status: number | undefined;
  readonly errcode: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly forModel: string;

  constructor(message: string, options: PeerErrorOptions) {
    super(message, options);
    this.status = options.status;
    this.errcode = options.errcode;
    this.retryAfterMs = options.retryAfterMs;
    this.forModel = options.forModel ?? FOR_MODEL[options.code];
  }
}

const OF_THE_NETWORK: ReadonlySet<string> = new Set<PeerErrorCode>([
  'peers-unreachable',
  'peers-timeout',
  'peers-rate-limited',
  'peers-auth',
]);

/** It would meet every other request as well; any other failure is of one room alone. */
export function isOfTheNetwork({ code }: PeerError): boolean {
  return OF_THE_NETWORK.has(code);
}

export function leftPeer(id: string): PeerError {
  return new PeerError(`${id} has left`, { code: 'peer-left', fix: 'Somebody has to introduce you again.' });
}
