// Owns what is kept of one inner call: everything that a replay needs instead of a model (notes 16, `rlm.trace.v1`). Shapes only.
import type { CallMode } from '../envelope/call-mode.ts';
import type { InnerRefusal, InnerUsage } from './inner-call.ts';

/** Why a call was not made or brought nothing; the four budgets refuse before anything is sent. */
export type CallFailure = InnerRefusal | 'budget_calls' | 'budget_tokens' | 'budget_cost' | 'budget_time';

/** `repl_root`: the model that writes code; `repl_sub`: a call that the code makes; `judge`: what a model says of an answer; `vanilla_single_pass`: the baseline. */
export type RecordedMode = CallMode | 'repl_root' | 'repl_sub' | 'judge' | 'vanilla_single_pass' | 'rate_ambiguity';

export interface CallRecord {
  readonly schema_version: 'rlm.trace.v1';
  readonly trace_id: string;
  /** `rlm_subcall_<32 hex>`, derived from run and call id. */
  readonly subcall_id: string;
  readonly parent_trace_id: string | null;
  readonly causal_parent_event_id: string | null;
  readonly call_id: string;
  readonly parent_call_id: string | null;
  /** Family that was asked. */
  readonly runtime: string;
  readonly mode: RecordedMode;
  /** The run. */
  readonly generation_id: string;
  readonly rlm_node_id: string;
  readonly ac_node_id: string;
  readonly depth: number;
  readonly selected_chunk_ids: readonly string[];
  readonly generated_child_ac_node_ids: readonly string[];
  readonly resume_handle_id: string | null;
  readonly runtime_handle_id: string | null;
  readonly prompt: string;
  readonly completion: string | null;
  /** `sha256:` and hex. */
  readonly prompt_hash: string;
  readonly response_hash: string | null;
  readonly success: boolean;
  readonly exit_code: number | null;
  readonly elapsed_ms: number;
  /** Null for a success. */
  readonly adapter_error: { readonly type: CallFailure; readonly detail: string } | null;
  readonly system_prompt_hash: string;
  /** Beyond the 26 fields of the original. */
  readonly system_prompt: string;
  readonly model: string | null;
  readonly usage: InnerUsage | null;
  readonly cost: number | null;
  /** Epoch ms. */
  readonly started_at: number;
}
