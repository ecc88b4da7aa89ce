// Owns the data model of the peer layer (seed 004, data model; hivemind notes 3): peers, summaries, sparks, messages.
// Knows no backend: nothing here names how peers are reached. Invariant: plain readonly JSON data; a peer's own words are foreign text.

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

/** What a peer needs and offers, drawn from its introduction and its messages. */
export interface PeerSummary {
  readonly peer_name: string;
  readonly needs: readonly string[];
  readonly offers: readonly string[];
  readonly expertise: readonly string[];
  readonly summary_text: string;
  /** ISO 8601, UTC. */
  readonly last_updated: string;
  /** Running total of messages that were counted up to this summary. */
  readonly message_count_at_update: number;
  /** Id of the newest message that was counted; absent when there was none. */
  readonly last_message_id?: string;
  /** `rule`: no model had a part in it. */
  readonly by: 'model' | 'rule';
}

export type Confidence = 'high' | 'medium' | 'low';

export type SparkStatus = 'pending' | 'executed' | 'dismissed';

/** A suggestion to introduce two peers. Names are for showing, ids tell them apart (notes 6, B2). */
export interface Spark {
  /** 8 hex digits. */
  readonly id: string;
  readonly peer_a: string;
  readonly peer_b: string;
  readonly peer_a_id: string;
  readonly peer_b_id: string;
  readonly reason: string;
  readonly confidence: Confidence;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  readonly status: SparkStatus;
  readonly by: 'model' | 'rule';
}

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
