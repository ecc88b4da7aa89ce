// A small run as the engine would leave it: two chunks of a text, three quotations, two claims; every text can be replaced.
import { canonicalJson, type JsonObject } from '#base/json.ts';
import type { CallRecord } from '#extensions/rlm/call/call-record.ts';
import type { FreshFact, RunOutcome } from '#extensions/rlm/outcome.ts';
import type { RlmNode } from '#extensions/rlm/scaffold/run-tree.ts';
import type { RunRecord } from '#extensions/rlm/trace/run-record.ts';
import { type RunEvent, textHash } from '#extensions/rlm/trace/run-record.ts';
import { callRecord } from '../trace/trace-samples.ts';

export const STARTED = 1_780_000_000_000;
export const RUN_ID = 'rlm_0f2c4a6e8b1d3f57';

const LINES = Array.from({ length: 60 }, (_, at) => `Line ${at + 1} says that rule ${at + 1} holds.`);
export const SAMPLE_TEXT = `${LINES.join('\n')}\n`;

export function sampleChunk(path: string, [first, last]: readonly [number, number], text = SAMPLE_TEXT) {
  const lines = text.split('\n');
  const start = Buffer.byteLength(
    lines
      .slice(0, first - 1)
      .map((line) => `${line}\n`)
      .join(''),
  );
  const kept = lines
    .slice(first - 1, last)
    .map((line) => `${line}\n`)
    .join('');
  return {
    chunk_id: `${path}:${first}-${last}`,
    source_path: path,
    start_line: first,
    end_line: last,
    start_byte: start,
    end_byte: start + Buffer.byteLength(kept),
    core_start_byte: start,
    truncated: true,
    token_estimate: 1,
    lossy: false,
    text_hash: textHash(kept),
    kept,
  };
}
export type SampleChunk = ReturnType<typeof sampleChunk>;

/** A fact that quotes what stands in the chunk. */
export function sampleFact(fact_id: string, chunk: SampleChunk, quote: string): FreshFact {
  const at = chunk.kept.indexOf(quote);
  const before = chunk.kept.slice(0, at);
  const start_byte = chunk.start_byte + Buffer.byteLength(before);
  const start_line = chunk.start_line + before.split('\n').length - 1;
  const place = {
    source_path: chunk.source_path,
    start_line,
    end_line: start_line + quote.split('\n').length - 1,
    start_byte,
    end_byte: start_byte + Buffer.byteLength(quote),
  };
  return {
    fact_id,
    chunk_id: chunk.chunk_id,
    text: quote,
    child_call_id: `call_${chunk.chunk_id}`,
    place: at < 0 ? null : place,
  };
}

export function sampleCall(call_id: string, parts: Partial<CallRecord> = {}): CallRecord {
  return callRecord(call_id, {
    ...{ mode: 'summarize_chunk', generation_id: RUN_ID, depth: 1, selected_chunk_ids: [], started_at: STARTED },
    ...{ prompt: '{"schema_version":"rlm.hermes.input.v1","mode":"summarize_chunk"}', system_prompt: 'Quote only.' },
    ...{ completion: '{"mode":"summarize_chunk"}', model: 'reflex/1', cost: 0, elapsed_ms: 12 },
    ...{ usage: { input_tokens: 1_200, output_tokens: 80 } },
    ...parts,
  });
}

export function sampleNode(id: string, parts: Partial<RlmNode> = {}): RlmNode {
  const base = { id, parent_id: null, ac_node_id: `ac_${id}`, depth: 0, children_ids: [], retries: 0 };
  return { ...base, state: 'synthesis_complete', ...parts };
}

export function sampleEvent(seq: number, type: RunEvent['type'], data: JsonObject = {}): RunEvent {
  const event_id = `${RUN_ID}:${String(seq).padStart(6, '0')}`;
  return {
    run_id: RUN_ID,
    seq,
    event_id,
    at: STARTED + seq * 7,
    type,
    node_id: null,
    causal_parent_event_id: null,
    data,
  };
}

export interface Sample {
  readonly outcome?: Partial<RunOutcome>;
  readonly chunks?: readonly SampleChunk[];
  readonly calls?: readonly CallRecord[];
  readonly events?: readonly RunEvent[];
}

const CHUNKS = [sampleChunk('docs/rules.md', [1, 30]), sampleChunk('docs/rules.md', [31, 60])];
const [ONE, TWO] = CHUNKS as [SampleChunk, SampleChunk];
export const FACTS: readonly FreshFact[] = [
  sampleFact('f001.01', ONE, 'Line 4 says that rule 4 holds.'),
  sampleFact('f001.02', ONE, 'rule 20 holds.\nLine 21 says'),
  sampleFact('f002.01', TWO, 'Line 40 says that rule 40 holds.'),
];

function outcomeOf({ outcome = {}, chunks = CHUNKS, calls = [] }: Sample): RunOutcome {
  const leaves = chunks.map(({ chunk_id }) => `node_${chunk_id}`);
  const nodes = Object.fromEntries([
    ['rlm_node_root', sampleNode('rlm_node_root', { children_ids: leaves })],
    ...leaves.map(
      (id) => [id, sampleNode(id, { parent_id: 'rlm_node_root', depth: 1, state: 'atomic_complete' })] as const,
    ),
  ]);
  return {
    schema_version: 'talaria.rlm.run.v1',
    run_id: RUN_ID,
    question: 'Which rules hold, and where is each of them said?',
    verdict: 'accepted',
    run_state: 'completed',
    termination_reason: 'parent_synthesis_completed',
    detail: null,
    summary: 'Two rules matter most.',
    claims: [
      { text: 'Line 4 says that rule 4 holds.', fact_ids: ['f001.01'] },
      { text: 'Line 40 says that rule 40 holds.', fact_ids: ['f002.01'] },
    ],
    refused: [],
    refused_facts: [],
    evidence: FACTS,
    gaps: [],
    selected_chunk_ids: chunks.map(({ chunk_id }) => chunk_id),
    omitted: [],
    boundaries: [],
    repair: null,
    totals: { calls: calls.length, input_tokens: 3_600, output_tokens: 240, cost: 0 },
    tree: {
      run_id: RUN_ID,
      run_state: 'completed',
      termination_reason: 'parent_synthesis_completed',
      root_id: 'rlm_node_root',
      limits: { max_depth: 5, max_iterations: 64, max_in_flight: 1, max_retries: 1 },
      iteration: 3,
      nodes,
      work_queue: [],
    },
    ...outcome,
  };
}

function defaultCalls(chunks: readonly SampleChunk[]): readonly CallRecord[] {
  const leaves = chunks.map(({ chunk_id }) =>
    sampleCall(`call_${chunk_id}`, {
      rlm_node_id: `node_${chunk_id}`,
      selected_chunk_ids: [chunk_id],
      parent_call_id: 'call_parent',
    }),
  );
  return [...leaves, sampleCall('call_parent', { mode: 'synthesize_parent' })];
}

export function samplePage(sample: Sample = {}): RunRecord {
  const { chunks = CHUNKS, calls = defaultCalls(chunks), events = [sampleEvent(1, 'rlm.run.started')] } = sample;
  const outcome = outcomeOf({ ...sample, chunks, calls });
  const texts = new Map(chunks.map(({ text_hash, kept }) => [text_hash, kept]));
  const request = { question: outcome.question, chunks: chunks.map(({ kept: _kept, ...chunk }) => chunk) };
  const row = {
    run_id: RUN_ID,
    kind: 'run' as const,
    request,
    root: '/somewhere',
    sources: [{ path: 'docs/rules.md', bytes: SAMPLE_TEXT.length, hash: textHash(SAMPLE_TEXT) }],
    started_at: STARTED,
    ended_at: STARTED + 420,
    state: outcome.run_state,
    outcome: outcome as unknown as JsonObject,
    state_hash: textHash(canonicalJson(outcome as unknown as JsonObject)),
    owner: null,
  };
  return { row, events, calls, textOf: (hash) => texts.get(hash) };
}
