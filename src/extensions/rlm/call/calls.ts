// Owns the one way in which a run asks a model: what is recorded already is given back, what a budget forbids is refused, the rest goes to
// the inner call, and its outcome is durable before anybody sees it. Everything that is not deterministic about a run happens here.
// Invariant: the same call id is asked at most once in a run's life; a refusal is an outcome and is recorded like a reply.
import type { CallRecord, RecordedMode } from './call-record.ts';

export interface CallAsk {
  readonly call_id: string;
  readonly parent_call_id: string | null;
  readonly causal_parent_event_id: string | null;
  readonly mode: RecordedMode;
  readonly rlm_node_id: string;
  readonly ac_node_id: string;
  readonly depth: number;
  readonly selected_chunk_ids: readonly string[];
  readonly system: string;
  readonly prompt: string;
  readonly max_output_tokens: number;
  /** Families in the order in which they are to be asked; empty: the default. The next one is asked when one cannot answer at all. */
  readonly families?: readonly string[];
  /** Calls that are still wanted after this one whatever happens (syntheses): of each budget so much is left for them. */
  readonly keep_back?: number;
}

export interface Calls {
  /** Never rejects but for broken storage; a recorded prompt that differs throws `trace-diverged`. */
  ask(ask: CallAsk, signal: AbortSignal): Promise<CallRecord>;
}

/** Of a whole run; absent: not limited. */
export interface CallBudget {
  readonly max_calls?: number;
  /** Input and output together, as far as told. */
  readonly max_tokens?: number;
  /** US dollars, as far as known. */
  readonly max_cost?: number;
  /** From the run's begin, pauses of a resumed run not counted. */
  readonly max_ms?: number;
}
