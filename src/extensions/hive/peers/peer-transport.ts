// Owns the PeerTransport seam (hivemind notes 11): how one agent reaches its peers and keeps its notes about them. Implemented by matrix
// and hub; contract suite: test/contract/hive/hive-transport.contract.ts. Knows no protocol.
import type { Peer, PeerMessage, PeerSummary, Spark } from './peer.ts';

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
