// Owns the record of a recursive run in the artifacts of benches (notes 6.4): its calls, its last message, what it cited. Pure.
// Invariant: what stands in it was measured or said in this run; an exit code 0 means that the call brought a reply.
import type { JsonObject } from '#base/json.ts';
import type { CallRecord } from '../../call/call-record.ts';
import type { RunOutcome } from '../../run/run-outcome.ts';
import { extractJson } from '../../text/extract-json.ts';
import { textHash } from '../../trace/text-hash.ts';
import type { EngineRun } from '../engine/run-fixture.ts';
import { parentCompletion } from './parent-completion.ts';
import { runMessage } from './run-message.ts';

export function treeDepth({ tree }: Pick<RunOutcome, 'tree'>): number {
  return Math.max(0, ...Object.values(tree.nodes).map((node) => node.depth));
}

/** With the parent's calls at the end, as they were made. */
export function subcalls(calls: readonly CallRecord[]) {
  return calls.map((call) => ({
    ac_node_id: call.ac_node_id,
    call_id: call.call_id,
    causal_parent_event_id: call.causal_parent_event_id,
    chunk_id: call.mode === 'synthesize_parent' ? null : (call.selected_chunk_ids[0] ?? null),
    completion: call.completion,
    completion_hash: call.response_hash,
    depth: call.depth,
    elapsed_ms: call.elapsed_ms,
    exit_code: call.success ? 0 : (call.exit_code ?? 1),
    generated_child_ac_node_ids: call.generated_child_ac_node_ids,
    mode: call.mode,
    parent_call_id: call.parent_call_id,
    parent_trace_id: call.parent_trace_id,
    prompt_hash: call.prompt_hash,
    rlm_node_id: call.rlm_node_id,
    selected_chunk_ids: call.selected_chunk_ids,
    subcall_id: call.subcall_id,
    success: call.success,
    trace_id: call.trace_id,
  }));
}

export function rlmOutput({ run_id, outcome, calls }: EngineRun, target: string): JsonObject {
  const parent = parentCompletion(calls);
  const { text } = runMessage({ calls, outcome });
  const parsed = extractJson(text);
  const output = {
    mode: 'recursive_outer_scaffold',
    generation_id: run_id,
    status: outcome.run_state,
    success: outcome.verdict === 'accepted',
    verdict: outcome.verdict,
    detail: outcome.detail,
    target,
    target_kind: 'path',
    termination_reason: outcome.termination_reason,
    selected_chunk_ids: outcome.selected_chunk_ids,
    omitted_chunk_ids: outcome.omitted.map(({ chunk_id }) => chunk_id),
    hermes_subcall_count: calls.length,
    generated_rlm_tree_depth: treeDepth(outcome),
    accepted_claim_count: outcome.claims.length,
    refused_claim_count: outcome.refused.length,
    atomic_execution: {
      ac_node_id: 'rlm_ac_root',
      generation_id: run_id,
      chunk_subcall_count: calls.filter(({ mode }) => mode === 'execute_atomic').length,
      nested_benchmark_subcall_count: 0,
      final_message: text,
      final_message_hash: textHash(text),
      final_message_json: parsed.ok ? parsed.value : null,
      parent_completion: parent,
      subcalls: subcalls(calls),
      success: outcome.verdict === 'accepted',
    },
  };
  return output as unknown as JsonObject;
}
