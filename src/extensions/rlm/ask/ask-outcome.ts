// Owns what `rlm ask` comes to: sentences with the handles they rest on, and the handles. Plain data that replay reaches again byte for
// byte. Shapes only. Issue: three kinds of handle; each sentence has its grade.
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

/**
 * `quoted`: a whole sentence, line, item or cell of the source; alone evidence for anything else. `supported`: its hard values stand in the
 * lines that it cites, and a model that read them says that they carry it. `computed`: it cites code alone; the values are shown, the sentence is
 * not graded.
 */
export type Grade = 'quoted' | 'supported' | 'not-supported' | 'computed';

export interface AnswerSentence {
  /** Quoted: as it stands in the source, but for white space. */
  readonly text: string;
  /** Ids of handles, in the order cited. */
  readonly handles: readonly string[];
  readonly grade: Grade;
  /** Where the quoted one stands. */
  readonly place: SourcePlace | null;
  /** Supported: what the model said; not supported: why. Else empty. */
  readonly why: string;
  /** Id of the model that read it; empty: none did. */
  readonly model: string;
}

/** `answered`: at least one sentence is quoted, supported or computed; `unsupported`: only others; `no_answer`: the model never finished. */
export type AskVerdict = 'answered' | 'unsupported' | 'no_answer' | 'failed' | 'cancelled';

export interface AskOutcome {
  readonly schema_version: 'talaria.rlm.ask.v2';
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
