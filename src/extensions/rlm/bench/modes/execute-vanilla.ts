// Owns the baseline as a run: exactly one call, and what it came to. Everything follows from the request and the reply, so that a replay
// reaches the same outcome. Knows no score and no file. Seed 003: "one vanilla Hermes call plus five recursive sub-calls".
import type { JsonObject } from '#base/json.ts';
import type { CallRecord } from '../../call/call-record.ts';
import type { Calls } from '../../call/calls.ts';
import { TOKEN_BUDGET } from '../../envelope/call-mode.ts';
import type { RunTrace } from '../../trace/trace-store.ts';
import { VANILLA_CALL_ID } from './vanilla-prompt.ts';

/** Plain JSON: the request of the run's row. */
export interface VanillaRequest {
  readonly schema_version: 'talaria.rlm.vanilla_request.v1';
  readonly system: string;
  readonly prompt: string;
  readonly chunk_ids: readonly string[];
  readonly families: readonly string[];
}

export interface VanillaOutcome {
  readonly schema_version: 'talaria.rlm.vanilla.v1';
  readonly run_id: string;
  readonly verdict: 'answered' | 'failed' | 'cancelled';
  readonly completion: string | null;
  readonly detail: string | null;
  readonly calls: 1;
}

export interface VanillaParts {
  readonly request: VanillaRequest;
  readonly trace: RunTrace;
  readonly calls: Calls;
  readonly signal: AbortSignal;
}

const NODE = 'rlm_node_root';

export async function executeVanilla({ request, trace, calls, signal }: VanillaParts): Promise<VanillaOutcome> {
  const started = trace.emit({
    type: 'rlm.run.started',
    node_id: null,
    causal_parent_event_id: null,
    data: { kind: 'vanilla', selected_chunk_ids: request.chunk_ids },
  });
  const asked = trace.emit({
    type: 'rlm.hermes.call.started',
    node_id: NODE,
    causal_parent_event_id: started,
    data: { call_id: VANILLA_CALL_ID, mode: 'vanilla_single_pass', selected_chunk_ids: request.chunk_ids },
  });
  const record = await calls.ask(askOf(request, asked), signal);
  const outcome = outcomeOf(trace.run_id, record);
  const answered = trace.emit({
    type: 'rlm.hermes.call.completed',
    node_id: NODE,
    causal_parent_event_id: asked,
    data: { call_id: VANILLA_CALL_ID, success: record.success, response_hash: record.response_hash },
  });
  const state = { answered: 'completed', failed: 'failed', cancelled: 'cancelled' } as const;
  trace.emit({
    type: 'rlm.run.finished',
    node_id: null,
    causal_parent_event_id: answered,
    data: { state: state[outcome.verdict], verdict: outcome.verdict },
  });
  trace.finish({ state: state[outcome.verdict], outcome: outcome as unknown as JsonObject });
  return outcome;
}

function askOf({ system, prompt, chunk_ids, families }: VanillaRequest, causal_parent_event_id: string) {
  return {
    call_id: VANILLA_CALL_ID,
    parent_call_id: null,
    causal_parent_event_id,
    mode: 'vanilla_single_pass',
    rlm_node_id: NODE,
    ac_node_id: 'rlm_ac_root',
    depth: 0,
    selected_chunk_ids: chunk_ids,
    system,
    prompt,
    max_output_tokens: TOKEN_BUDGET.max_output_tokens,
    families,
  } as const;
}

function outcomeOf(run_id: string, { success, completion, adapter_error }: CallRecord): VanillaOutcome {
  const cancelled = adapter_error?.type === 'cancelled';
  return {
    schema_version: 'talaria.rlm.vanilla.v1',
    run_id,
    verdict: success ? 'answered' : cancelled ? 'cancelled' : 'failed',
    completion,
    detail: adapter_error === null ? null : `${adapter_error.type}: ${adapter_error.detail}`,
    calls: 1,
  };
}
