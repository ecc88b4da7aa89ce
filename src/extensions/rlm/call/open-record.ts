// Owns the record of one call from what was asked and what came of it. Knows no budget and no store.
// Invariant: ids follow from run and call; hashes are of the very texts; what failed has no completion. Seed 003, notes 13.1, 16.
import { sha256 } from '#base/ids.ts';
import type { Ok } from '#base/result.ts';
import { textHash } from '../trace/text-hash.ts';
import type { CallFailure, CallRecord } from './call-record.ts';
import type { CallAsk } from './calls.ts';
import type { InnerReply } from './inner-call.ts';

export interface Failed {
  readonly ok: false;
  readonly reason: CallFailure;
  readonly detail: string;
  readonly exit_code?: number;
}

export interface CallEnd {
  readonly run: string;
  /** Family that answered, or was asked last. */
  readonly runtime: string;
  readonly outcome: Ok<InnerReply> | Failed;
  /** Epoch ms. */
  readonly started_at: number;
  readonly elapsed_ms: number;
}

export function callRecord(ask: CallAsk, { run, runtime, outcome, started_at, elapsed_ms }: CallEnd): CallRecord {
  const reply = outcome.ok ? outcome.value : null;
  return {
    schema_version: 'rlm.trace.v1',
    trace_id: traceId(ask.call_id),
    subcall_id: `rlm_subcall_${sha256(JSON.stringify([run, ask.call_id])).slice(0, 32)}`,
    parent_trace_id: ask.parent_call_id === null ? null : traceId(ask.parent_call_id),
    causal_parent_event_id: ask.causal_parent_event_id,
    call_id: ask.call_id,
    parent_call_id: ask.parent_call_id,
    runtime,
    mode: ask.mode,
    generation_id: run,
    rlm_node_id: ask.rlm_node_id,
    ac_node_id: ask.ac_node_id,
    depth: ask.depth,
    selected_chunk_ids: ask.selected_chunk_ids,
    generated_child_ac_node_ids: [],
    resume_handle_id: null,
    runtime_handle_id: null,
    prompt: ask.prompt,
    completion: reply?.completion ?? null,
    prompt_hash: textHash(ask.prompt),
    response_hash: reply === null ? null : textHash(reply.completion),
    success: outcome.ok,
    exit_code: (outcome.ok ? outcome.value.exit_code : outcome.exit_code) ?? null,
    elapsed_ms: Math.max(0, Math.round(reply?.elapsed_ms ?? elapsed_ms)),
    adapter_error: outcome.ok ? null : { type: outcome.reason, detail: outcome.detail },
    system_prompt_hash: textHash(ask.system),
    system_prompt: ask.system,
    model: reply?.model ?? null,
    usage: reply?.usage ?? null,
    cost: reply?.cost ?? null,
    started_at,
  };
}

export function traceId(call_id: string): string {
  return `rlm_trace_${call_id}`;
}
