// Owns what is asked of a call, what is kept of it (notes 16, `rlm.trace.v1`) and what the calls of a run come to. Plain data.
// Invariant: a record holds everything that a replay needs instead of a model; a sum tells nothing that some call did not tell.
import { z } from 'zod';
import type { RunTotals } from '../outcome.ts';
import type { CallMode } from '../scaffold/envelope.ts';
import type { InnerRefusal, InnerReply } from './inner-call.ts';

/** Why a call was not made or brought nothing; the four budgets refuse before anything is sent. */
export type CallFailure = InnerRefusal | 'budget_calls' | 'budget_tokens' | 'budget_cost' | 'budget_time';

/** `repl_root`: the model that writes code; `repl_sub`: a call that the code makes; `judge`: what a model says of an answer; `vanilla_single_pass`: the baseline. */
export type RecordedMode = CallMode | 'repl_root' | 'repl_sub' | 'judge' | 'vanilla_single_pass' | 'rate_ambiguity';

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

/** What is kept of one call: everything that a replay needs instead of a model (`rlm.trace.v1`). */
export interface CallRecord
  extends Omit<CallAsk, 'system' | 'max_output_tokens' | 'families' | 'keep_back'>,
    Pick<InnerReply, 'usage' | 'cost' | 'exit_code' | 'elapsed_ms'> {
  readonly schema_version: 'rlm.trace.v1';
  readonly trace_id: string;
  /** `rlm_subcall_<32 hex>`, derived from run and call id. */
  readonly subcall_id: string;
  readonly parent_trace_id: string | null;
  /** Family that was asked. */
  readonly runtime: string;
  /** The run. */
  readonly generation_id: string;
  readonly generated_child_ac_node_ids: readonly string[];
  readonly resume_handle_id: string | null;
  readonly runtime_handle_id: string | null;
  readonly completion: string | null;
  /** `sha256:` and hex. */
  readonly prompt_hash: string;
  readonly response_hash: string | null;
  readonly success: boolean;
  /** Null for a success. */
  readonly adapter_error: { readonly type: CallFailure; readonly detail: string } | null;
  readonly system_prompt_hash: string;
  /** Beyond the 26 fields of the original. */
  readonly system_prompt: string;
  readonly model: string | null;
  /** Epoch ms. */
  readonly started_at: number;
}

export interface Calls {
  /** Never rejects but for broken storage; a recorded prompt that differs throws `trace-diverged`. */
  ask(ask: CallAsk, signal: AbortSignal): Promise<CallRecord>;
}

const above = z.number().positive();

/** Of a whole run; absent: not limited. */
export const callBudget = z.object({
  max_calls: above.exactOptional(),
  /** Input and output together, as far as told. */
  max_tokens: above.exactOptional(),
  /** US dollars, as far as known. */
  max_cost: above.exactOptional(),
  /** From the run's begin, pauses of a resumed run not counted. */
  max_ms: above.exactOptional(),
});

export type CallBudget = Readonly<z.infer<typeof callBudget>>;

/** What a sum needs of a call. */
export type CountedCall = Pick<CallRecord, 'adapter_error' | 'mode' | 'usage' | 'cost'>;

/** Of the calls that were made; what some call did not tell is told by no sum. The judge tells the house what it took. */
export function callTotals(records: readonly CountedCall[]): RunTotals {
  const made = records.filter(
    ({ adapter_error }) => !(adapter_error?.type.startsWith('budget_') || adapter_error?.type === 'no_model'),
  );
  const told = made.filter(({ mode }) => mode !== 'judge');
  const sum = (of: (record: CountedCall) => number | null | undefined) =>
    told.reduce<number | null>((total, record) => {
      const more = of(record) ?? null;
      return total === null || more === null ? null : total + more;
    }, 0);
  return {
    calls: made.length,
    input_tokens: sum(({ usage }) => usage?.input_tokens),
    output_tokens: sum(({ usage }) => usage?.output_tokens),
    cost: sum(({ cost }) => cost),
  };
}

export function traceId(call_id: string): string {
  return `rlm_trace_${call_id}`;
}
