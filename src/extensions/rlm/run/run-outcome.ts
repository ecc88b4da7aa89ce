// Owns what a scaffold run comes to: plain data that replay reaches again byte for byte, so it holds no time, no latency, no path of a
// machine. What is accepted, what is refused with its reason, what was not read: nothing is dropped silently. Shapes only.
import type { DroppedChunk, TruncationBoundary } from '../chunk/select-chunks.ts';
import type { RejectedClaim } from '../guard/parent-claim.ts';
import type { RepairBlock } from '../repair/repair-block.ts';
import type { RlmTree } from '../tree/rlm-tree.ts';
import type { EndState, TerminationReason } from '../tree/run-state.ts';

/** A quotation that a child reported and its chunk holds. */
export interface FreshFact {
  readonly fact_id: string;
  readonly chunk_id: string;
  /** Stands in the chunk word for word, but for white space. */
  readonly text: string;
  readonly child_call_id: string;
  /** Where the quotation stands: byte range of the source, lines from 1; null when the source has none (a prompt). */
  readonly place: SourcePlace | null;
}

export interface SourcePlace {
  readonly source_path: string;
  readonly start_line: number;
  readonly end_line: number;
  readonly start_byte: number;
  readonly end_byte: number;
}

/** A claim of the accepted synthesis with the fact that carries it. */
export interface AcceptedClaim {
  readonly text: string;
  readonly fact_ids: readonly string[];
}

export interface RunGap {
  readonly what: string;
  readonly why: string;
}

/** `accepted`: the synthesis passed the gate; `refused`: it did not; `no_evidence`: no child found anything. */
export type RunVerdict = 'accepted' | 'refused' | 'no_evidence' | 'failed' | 'cancelled' | 'dry_run';

export interface RunTotals {
  readonly calls: number;
  /** Null: some call did not tell. */
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cost: number | null;
}

export interface RunOutcome {
  readonly schema_version: 'talaria.rlm.run.v1';
  readonly run_id: string;
  readonly question: string;
  readonly verdict: RunVerdict;
  readonly run_state: EndState;
  readonly termination_reason: TerminationReason;
  /** Why, in one sentence, when the verdict is not `accepted`. */
  readonly detail: string | null;
  /** The parent's prose. Never checked, and shown as such. */
  readonly summary: string | null;
  readonly claims: readonly AcceptedClaim[];
  readonly refused: readonly RejectedClaim[];
  /** Refused quotations of children: what they said that their chunk does not hold. */
  readonly refused_facts: readonly { readonly call_id: string; readonly text: string; readonly reason: string }[];
  readonly evidence: readonly FreshFact[];
  readonly gaps: readonly RunGap[];
  readonly selected_chunk_ids: readonly string[];
  readonly omitted: readonly Pick<DroppedChunk, 'chunk_id' | 'reason'>[];
  readonly boundaries: readonly TruncationBoundary[];
  readonly repair: RepairBlock | null;
  readonly totals: RunTotals;
  readonly tree: RlmTree;
  /** Into which the question was split; absent: it was not. */
  readonly sub_questions?: readonly { readonly ac_node_id: string; readonly question: string }[];
}
