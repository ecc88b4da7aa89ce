/** A small run as a controller writes it: two chunk calls, one synthesis. */
import type { CallRecord } from '#extensions/rlm/call/call-record.ts';
import type { RunTrace } from '#extensions/rlm/trace/live-trace.ts';
import { type NewRun, type NewRunEvent, type RunEventType, textHash } from '#extensions/rlm/trace/run-record.ts';

export function newRun(run_id = 'rlm_1', more: Partial<NewRun> = {}): NewRun {
  return {
    run_id,
    kind: 'run',
    request: { question: 'What is said?', limits: { max_calls: 5 } },
    root: '/somewhere',
    sources: [{ path: 'a.txt', bytes: 12, hash: textHash('one\ntwo\n') }],
    ...more,
  };
}

export function newEvent(type: RunEventType, data: NewRunEvent['data'] = {}, more: Partial<NewRunEvent> = {}) {
  return { type, node_id: 'rlm_node_root', causal_parent_event_id: null, data, ...more };
}

export function callRecord(call_id: string, more: Partial<CallRecord> = {}): CallRecord {
  const prompt = more.prompt ?? `prompt of ${call_id}`;
  const completion = more.completion === undefined ? `completion of ${call_id}` : more.completion;
  const system_prompt = more.system_prompt ?? 'rules';
  return {
    schema_version: 'rlm.trace.v1',
    trace_id: `rlm_trace_${call_id}`,
    subcall_id: `rlm_subcall_${call_id}`,
    parent_trace_id: null,
    causal_parent_event_id: null,
    call_id,
    parent_call_id: null,
    runtime: 'default',
    mode: 'execute_atomic',
    generation_id: 'rlm_1',
    rlm_node_id: 'rlm_node_root',
    ac_node_id: 'rlm_ac_root',
    depth: 0,
    selected_chunk_ids: ['a.txt:1-2'],
    generated_child_ac_node_ids: [],
    resume_handle_id: null,
    runtime_handle_id: null,
    prompt,
    completion,
    prompt_hash: textHash(prompt),
    response_hash: completion === null ? null : textHash(completion),
    success: completion !== null,
    exit_code: null,
    elapsed_ms: 7,
    adapter_error: completion === null ? { type: 'timeout', detail: 'too late' } : null,
    system_prompt_hash: textHash(system_prompt),
    system_prompt,
    model: 'test/model',
    usage: { input_tokens: 10, output_tokens: 3 },
    cost: 0.002,
    started_at: 1_700_000_000_000,
    ...more,
  };
}

export const OUTCOME = { verdict: 'accepted', claims: [{ text: 'one', fact_ids: ['f001.01'] }] } as const;

/** Events and calls of a whole run, without its end. */
export function writeRun(trace: RunTrace, calls = 2): void {
  const started = trace.emit(newEvent('rlm.run.started', { question: 'What is said?' }));
  const text_hash = trace.keepText('one\ntwo\n');
  trace.emit(newEvent('rlm.context.bound', { chunk_id: 'a.txt:1-2', text_hash }, { causal_parent_event_id: started }));
  for (let at = 1; at <= calls; at += 1) {
    const call_id = `call_${at}`;
    trace.emit(newEvent('rlm.hermes.call.started', { call_id }, { causal_parent_event_id: started }));
    if (trace.recorded(call_id) === undefined) trace.saveCall(callRecord(call_id, { generation_id: trace.run_id }));
    trace.emit(newEvent('rlm.hermes.call.completed', { call_id, success: true }, { causal_parent_event_id: started }));
  }
}

export function endRun(trace: RunTrace): void {
  trace.emit(newEvent('rlm.run.finished', { verdict: 'accepted' }));
  trace.finish({ state: 'completed', outcome: OUTCOME });
}
