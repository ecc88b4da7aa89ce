// Owns what `rlm ask` comes to: sentences with the handles they rest on, and the handles. Plain data that replay reaches again byte for
// byte. Shapes only. Issue: three kinds of handle; what a sentence says beyond its handles is shown as not supported.
import type { RunGap, RunTotals, SourcePlace } from '../run/run-outcome.ts';
import type { EndState } from '../tree/run-state.ts';

/** A byte range of the context, and what stands there. */
export interface SpanHandle {
  readonly kind: 'span';
  readonly id: string;
  readonly place: SourcePlace;
  readonly quote: string;
}

/** A claim of a sub-call that the piece it was asked on holds. */
export interface ChildHandle {
  readonly kind: 'child';
  readonly id: string;
  readonly call_id: string;
  readonly text: string;
  /** Handle of the piece. */
  readonly over: string;
}

/** What a piece of code made of other handles; the code sees nothing else, and running it again gives the same bytes. */
export interface ComputedHandle {
  readonly kind: 'computed';
  readonly id: string;
  readonly code: string;
  /** `sha256:` of the code. */
  readonly code_hash: string;
  /** Handles, in order; `context` is the whole. */
  readonly inputs: readonly string[];
  /** Canonical JSON. */
  readonly output: string;
  readonly output_hash: string;
}

export type Handle = SpanHandle | ChildHandle | ComputedHandle;

export interface AnswerSentence {
  readonly text: string;
  /** Ids of handles, in the order cited. */
  readonly handles: readonly string[];
  readonly status: 'cited' | 'not_supported';
  /** Numbers, names and identifiers that no handle holds; or why it counts for nothing. */
  readonly missing: readonly string[];
}

/** `answered`: at least one cited sentence; `unsupported`: only others; `no_answer`: the model never finished. */
export type AskVerdict = 'answered' | 'unsupported' | 'no_answer' | 'failed' | 'cancelled';

export interface AskOutcome {
  readonly schema_version: 'talaria.rlm.ask.v1';
  readonly run_id: string;
  readonly question: string;
  readonly verdict: AskVerdict;
  readonly run_state: EndState;
  readonly detail: string | null;
  readonly sentences: readonly AnswerSentence[];
  readonly handles: readonly Handle[];
  readonly gaps: readonly RunGap[];
  /** Bytes of the context that sub-calls or printed output have shown to a model, overlaps once; the rest only code has seen. */
  readonly bytes_read: number;
  readonly bytes_total: number;
  /** Code blocks that ran. */
  readonly steps: number;
  readonly totals: RunTotals;
}
