/** A controller as small as can be that keeps every rule of a run: one call for each chunk, one synthesis, evidence that stands in its chunk. */
import { systemClock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { CallRecord } from '#extensions/rlm/call/call-record.ts';
import type { CallAsk, Calls } from '#extensions/rlm/call/calls.ts';
import { createCalls } from '#extensions/rlm/call/create-calls.ts';
import type { InnerCall, InnerRequest } from '#extensions/rlm/call/inner-call.ts';
import type { FreshFact } from '#extensions/rlm/run/run-outcome.ts';
import type { EngineWork, RunEngine } from '#extensions/rlm/trace/replay/replay-run.ts';
import type { NewRun, RunRow } from '#extensions/rlm/trace/run-row.ts';
import { jsonHash, textHash } from '#extensions/rlm/trace/text-hash.ts';
import type { RunTrace, TraceStore } from '#extensions/rlm/trace/trace-store.ts';

export const CHUNKS: readonly string[] = [
  'The tower is 44 m high.\n',
  'The bridge opened in 1931.\n',
  'Nothing is here.\n',
];

export function smallRun(run_id = 'rlm_small', chunks = CHUNKS): NewRun {
  const spans = chunks.map((text, at) => ({
    ...{ chunk_id: `a.txt:${at + 1}-${at + 1}`, source_path: 'a.txt', start_line: at + 1, end_line: at + 1 },
    ...{ start_byte: 0, end_byte: Buffer.byteLength(text), text_hash: textHash(text) },
  }));
  const text = chunks.join('');
  return {
    run_id,
    kind: 'run',
    request: { question: 'What is known?', guard_mode: 'strict', chunks: spans },
    root: '/somewhere',
    sources: [{ path: 'a.txt', bytes: Buffer.byteLength(text), hash: textHash(text) }],
  };
}

/** Each child quotes its chunk; the parent takes all. */
export function quotingInner(answer: (request: InnerRequest) => string = quote): InnerCall {
  return {
    family: 'default',
    call: async (request) => ({
      ok: true,
      value: {
        completion: answer(request),
        model: 'test/quote',
        usage: { input_tokens: 5, output_tokens: 2 },
        cost: 0.001,
        elapsed_ms: 3,
        exit_code: null,
      },
    }),
  };
}

export function quote({ call_id, prompt }: InnerRequest): string {
  return call_id === 'rlm_call_atomic_synthesis' ? 'all of it' : prompt.trim();
}

export const smallEngine: RunEngine = async (work, signal) => {
  const { row, trace } = work;
  const request = row.request as { question: string; chunks: { chunk_id: string; text_hash: string }[] };
  const start = trace.emit({
    ...{ type: 'rlm.run.started', node_id: null, causal_parent_event_id: null },
    data: { question: request.question, request_hash: jsonHash(row.request) },
  });
  const evidence: FreshFact[] = [];
  for (const [at, chunk] of request.chunks.entries()) {
    const number = String(at + 1).padStart(3, '0');
    const node = `rlm_node_atomic_chunk_${number}`;
    const prompt = trace.textOf(chunk.text_hash) ?? '';
    const ask = { call_id: `rlm_call_atomic_chunk_${number}`, rlm_node_id: node, depth: 1, prompt };
    const parent = 'rlm_call_atomic_synthesis';
    const record = await doNode(work, { ...ask, parent_call_id: parent, chunk_ids: [chunk.chunk_id], start }, signal);
    const text = record.completion ?? '';
    if (prompt.includes(text) && text !== '')
      evidence.push({
        fact_id: `f${number}.01`,
        chunk_id: chunk.chunk_id,
        text,
        child_call_id: ask.call_id,
        place: null,
      });
  }
  const prompt = JSON.stringify(evidence);
  const root = { call_id: 'rlm_call_atomic_synthesis', rlm_node_id: 'rlm_node_root', depth: 0, prompt };
  await doNode(work, { ...root, parent_call_id: null, chunk_ids: [], start }, signal);
  finish(work, outcomeOf({ row, evidence, calls: request.chunks.length + 1 }));
};

type NodeAsk = Pick<CallAsk, 'call_id' | 'parent_call_id' | 'rlm_node_id' | 'depth' | 'prompt'> & {
  readonly chunk_ids: readonly string[];
  readonly start: string;
};

async function doNode({ trace, calls }: EngineWork, ask: NodeAsk, signal: AbortSignal): Promise<CallRecord> {
  const { call_id, rlm_node_id: node_id, start, chunk_ids, ...rest } = ask;
  const emit = (type: Parameters<RunTrace['emit']>[0]['type'], data: JsonObject, cause: string): string =>
    trace.emit({ type, node_id, causal_parent_event_id: cause, data });
  const scheduled = emit('rlm.node.scheduled', {}, start);
  const started = emit('rlm.hermes.call.started', { call_id, mode: 'execute_atomic' }, scheduled);
  const record = await calls.ask(
    {
      ...{ ...rest, call_id, rlm_node_id: node_id, ac_node_id: `ac_${node_id}`, causal_parent_event_id: started },
      ...{ mode: 'execute_atomic', system: 'Quote.', max_output_tokens: 100, selected_chunk_ids: chunk_ids },
    },
    signal,
  );
  const { success, response_hash } = record;
  const completed = emit('rlm.hermes.call.completed', { call_id, success, response_hash }, started);
  emit('rlm.node.terminal', { state: success ? 'atomic_complete' : 'failed' }, completed);
  return record;
}

function finish({ trace }: EngineWork, outcome: JsonObject): void {
  const data = { verdict: outcome.verdict, totals: outcome.totals };
  trace.emit({ type: 'rlm.run.finished', node_id: null, causal_parent_event_id: null, data });
  trace.finish({ state: 'completed', outcome });
}

interface Found {
  readonly row: RunRow;
  readonly evidence: readonly FreshFact[];
  readonly calls: number;
}

function outcomeOf({ row, evidence, calls }: Found): JsonObject {
  const ids = [
    ...row.sources.map(() => 'rlm_node_root'),
    ...evidence.map((_, at) => `rlm_node_atomic_chunk_00${at + 1}`),
  ];
  const nodes = ids.map((id, at) => [
    id,
    {
      ...{ id, parent_id: at === 0 ? null : 'rlm_node_root', ac_node_id: `ac_${id}`, depth: at === 0 ? 0 : 1 },
      ...{ state: 'atomic_complete', children_ids: at === 0 ? ids.slice(1) : [], retries: 0 },
    },
  ]);
  return {
    ...{ schema_version: 'talaria.rlm.run.v1', run_id: row.run_id, question: 'What is known?', verdict: 'accepted' },
    ...{ run_state: 'completed', termination_reason: 'parent_synthesis_completed', detail: null, summary: 'All.' },
    claims: evidence.map(({ text, fact_id }) => ({ text, fact_ids: [fact_id] })),
    ...{ refused: [], refused_facts: [], gaps: [{ what: 'b.txt', why: 'it is empty' }] },
    evidence: evidence as unknown as JsonObject[],
    selected_chunk_ids: evidence.map(({ chunk_id }) => chunk_id),
    ...{ omitted: [{ chunk_id: 'a.txt:4-9', reason: 'max_chunks' }], boundaries: [], repair: null },
    totals: { calls, input_tokens: 5 * calls, output_tokens: 2 * calls, cost: 0.001 * calls },
    tree: { run_id: row.run_id, root_id: 'rlm_node_root', nodes: Object.fromEntries(nodes) },
  };
}

export interface SmallRunOptions {
  readonly run?: NewRun;
  readonly inner?: InnerCall;
}

/** Begins a run, keeps its texts and does it to its end. */
export async function doSmallRun(
  store: TraceStore,
  { run = smallRun(), inner = quotingInner() }: SmallRunOptions = {},
) {
  const trace = store.begin(run);
  const chunks = run.request.chunks as { text_hash: string }[];
  const kept = new Map(CHUNKS.map((text) => [textHash(text), text]));
  for (const { text_hash } of chunks) trace.keepText(kept.get(text_hash) ?? '');
  await goOn(store, trace, inner);
  return trace;
}

export function liveCalls(trace: RunTrace, inner: InnerCall): Calls {
  return createCalls({
    inner: new Map([['default', inner]]),
    trace,
    budget: {},
    clock: systemClock,
    run: trace.run_id,
  });
}

export async function goOn(store: TraceStore, trace: RunTrace, inner: InnerCall): Promise<void> {
  const found = store.find(trace.run_id);
  if (!found.ok) throw new Error(found.detail);
  await smallEngine({ row: found.value, trace, calls: liveCalls(trace, inner) }, new AbortController().signal);
}
