// Owns one run of the real engine over a fixture for a bench: its request, the run, its outcome and calls, and its record in artifacts (notes 6.4).
// Knows no score. Invariant: the calls are those of the trace, in the order in which they were made; what stands in a record was measured or said in
// this run; an exit code 0 means that the call brought a reply.
import { sha256 } from '#base/ids.ts';
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { CallRecord } from '#extensions/rlm/call/call-record.ts';
import { type Engine as BenchEngine, startRun } from '#extensions/rlm/engine.ts';
import { extractJson } from '#extensions/rlm/guard/extract-json.ts';
import { buildManifest } from '#extensions/rlm/guard/manifest.ts';
import type { GuardMode, RejectionReason } from '#extensions/rlm/guard/read-claims.ts';
import { validateParentSynthesis } from '#extensions/rlm/guard/validate-parent-synthesis.ts';
import type { RunOutcome } from '#extensions/rlm/outcome.ts';
import { AMBIGUITY_THRESHOLD, judged, measureAmbiguity } from '#extensions/rlm/run/ambiguity.ts';
import { RUN_REQUEST_VERSION, type RunMemory, type RunRequest } from '#extensions/rlm/run/run-request.ts';
import { readChunk, selectChunks } from '#extensions/rlm/scaffold/chunks.ts';
import { TOKEN_BUDGET } from '#extensions/rlm/scaffold/envelope.ts';
import { planChunks } from '#extensions/rlm/scaffold/plan-chunks.ts';
import type { TreeLimits } from '#extensions/rlm/scaffold/run-tree.ts';
import { exportedRun } from '#extensions/rlm/trace/export-run.ts';
import { newRunId, readRunRecord, type SourceStamp, textHash } from '#extensions/rlm/trace/run-record.ts';
import type { TraceStore } from '#extensions/rlm/trace/trace-store.ts';

export interface EngineRun {
  readonly run_id: string;
  readonly outcome: RunOutcome;
  readonly calls: readonly CallRecord[];
  /** From request to outcome, by the clock of the engine. */
  readonly elapsed_ms: number;
}

export interface FixtureLines {
  readonly path: string;
  readonly lines: readonly string[];
  readonly chunk_line_limit: number;
  readonly max_atomic_chunks: number;
  /** Chunk ids that must come out of it, in order. */
  readonly selected: readonly string[];
}

interface FixtureAsk {
  readonly fixture: FixtureLines;
  readonly question: string;
  readonly options: {
    /** Empty: the default family. */
    readonly families?: readonly string[];
    readonly memory?: RunMemory;
    readonly limits?: Partial<TreeLimits>;
  };
}

export async function runFixture(
  engine: BenchEngine,
  ask: FixtureAsk,
  signal: AbortSignal,
): Promise<Result<EngineRun, 'fixture-chunks-differ'>> {
  const asked = fixtureRequest(ask);
  if (!asked.ok) return asked;
  const { request, texts, source } = asked.value;
  const { clock, store } = engine;
  const from = clock.monotonic();
  const run_id = newRunId('run', clock);
  const plain = request as unknown as JsonObject;
  const run = { run_id, kind: 'run', request: plain, root: '', sources: [source] } as const;
  const outcome = await startRun(engine, run, { texts }, signal);
  return ok({ run_id, outcome, calls: store.calls(run_id), elapsed_ms: clock.monotonic() - from });
}

/** All lines of a fixture, and the stamp of the file that they would be. */
export function fixtureSource({ path, lines }: Pick<FixtureLines, 'path' | 'lines'>): {
  readonly bytes: Uint8Array;
  readonly source: SourceStamp;
} {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''), 'utf8');
  return { bytes, source: { path, bytes: bytes.length, hash: `sha256:${sha256(bytes)}` } };
}

const NO_MEMORY: RunMemory = { mode: 'off', priors: [], fixture_category: null };
const FACTS_CHARS = 60_000;
const LIMITS: TreeLimits = { max_depth: 5, max_iterations: 64, max_in_flight: 1, max_retries: 1 };

/** With the texts that the request names by hash. */
function fixtureRequest({
  fixture,
  question,
  options,
}: FixtureAsk): Result<
  { readonly request: RunRequest; readonly texts: readonly string[]; readonly source: SourceStamp },
  'fixture-chunks-differ'
> {
  const { bytes, source } = fixtureSource(fixture);
  const { path, chunk_line_limit: line_limit, max_atomic_chunks } = fixture;
  if (!Number.isSafeInteger(line_limit) || line_limit < 1 || max_atomic_chunks < 1)
    return refuse('fixture-chunks-differ', 'the fixture has chunks of whole lines, one at least');
  const plan = planChunks(path, bytes, { line_limit });
  const { selected, dropped, boundaries } = selectChunks([plan], max_atomic_chunks);
  const ids = selected.map((span) => span.chunk_id);
  if (ids.join('\n') !== fixture.selected.join('\n'))
    return refuse('fixture-chunks-differ', `the lines of the fixture give other chunks: ${ids.join(', ')}`);
  const read = selected.map((span) => ({ span, ...readChunk(bytes, span) }));
  const families = options.families ?? [];
  const limits = { ...LIMITS, ...options.limits };
  const request: RunRequest = {
    schema_version: RUN_REQUEST_VERSION,
    question,
    target: fixture.path,
    target_kind: 'path',
    limits: { ...limits, max_iterations: Math.max(limits.max_iterations, 4 * selected.length) },
    // All chunks under one parent.
    fan_out: Math.max(2, selected.length),
    max_output_tokens: TOKEN_BUDGET.max_output_tokens,
    facts_chars: FACTS_CHARS,
    chunks: read.map(({ span, token_estimate, lossy, content }) => {
      return { ...span, token_estimate, lossy, text_hash: textHash(content) };
    }),
    omitted: dropped.map(({ chunk_id, reason }) => ({ chunk_id, reason })),
    boundaries,
    skipped: [],
    ambiguity: judged(measureAmbiguity(question), null, {
      threshold: AMBIGUITY_THRESHOLD,
      force: 'a bench asks a fixed question',
    }),
    guard_mode: 'strict',
    memory: options.memory ?? NO_MEMORY,
    families: { children: families, synthesis: families },
    decompose: false,
    budget: {},
  };
  return ok({ request, texts: read.map(({ content }) => content), source });
}

function treeDepth({ tree }: Pick<RunOutcome, 'tree'>): number {
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

export interface RunMessage {
  /** Bare JSON, or the reply as it came; empty: there was none. */
  readonly text: string;
  readonly boundary_reported_by: 'parent' | 'controller' | null;
}

export function runMessage({ calls, outcome }: Pick<EngineRun, 'calls' | 'outcome'>): RunMessage {
  const completion = parentCompletion(calls) ?? '';
  const parsed = parseJson(completion);
  const reply = parsed.ok && isJsonObject(parsed.value) ? parsed.value : null;
  const result = reply === null || !isJsonObject(reply.result) ? null : reply.result;
  if (reply === null || result === null) return { text: completion, boundary_reported_by: null };
  if (isJsonObject(result.truncation_report)) return { text: completion, boundary_reported_by: 'parent' };
  const [boundary] = outcome.boundaries;
  if (boundary === undefined) return { text: completion, boundary_reported_by: null };
  const { last_retained_line, omitted_line_count } = boundary;
  const truncation_report = { last_retained_line, omitted_line_count };
  const whole: JsonObject = { ...reply, result: { ...result, truncation_report } };
  return { text: JSON.stringify(whole), boundary_reported_by: 'controller' };
}

/** Null: none was asked or none answered. */
export function parentCompletion(calls: readonly CallRecord[]): string | null {
  return calls.findLast((call) => call.mode === 'synthesize_parent' && call.completion !== null)?.completion ?? null;
}

export interface MeasuredCalls {
  readonly calls: number;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  /** US dollars. */
  readonly cost: number | null;
  /** Of the calls, one after the other. */
  readonly elapsed_ms: number;
  readonly models: readonly string[];
}

export function measuredCalls(calls: readonly CallRecord[]): MeasuredCalls {
  return {
    calls: calls.length,
    input_tokens: sumOf(calls.map(({ usage }) => usage?.input_tokens ?? null)),
    output_tokens: sumOf(calls.map(({ usage }) => usage?.output_tokens ?? null)),
    cost: sumOf(calls.map(({ cost }) => cost)),
    elapsed_ms: Math.round(calls.reduce((sum, { elapsed_ms }) => sum + elapsed_ms, 0)),
    models: [...new Set(calls.flatMap(({ model }) => model ?? []))],
  };
}

function sumOf(values: readonly (number | null)[]): number | null {
  if (values.length === 0 || values.includes(null)) return null;
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

export interface GuardVerdictRequest {
  readonly fixture: { readonly expected_retained_facts: unknown };
  /** As text or as data. */
  readonly completion: unknown;
  readonly mode: GuardMode;
}

export function guardVerdict({ fixture, completion, mode }: GuardVerdictRequest) {
  const read = typeof completion === 'string' ? extractJson(completion) : { ok: true as const, value: completion };
  const verdict = validateParentSynthesis({
    manifest: buildManifest(fixture),
    synthesis: read.ok ? read.value : null,
    mode,
  });
  const reasons: readonly RejectionReason[] = [...new Set(verdict.rejected_claims.map(({ reason }) => reason))];
  return {
    accepted: verdict.accepted,
    accepted_claims: verdict.accepted_claims.length,
    rejected_claims: verdict.rejected_claims.length,
    unsupported_claim_rate: verdict.unsupported_claim_rate,
    reasons,
  };
}

/** Beside what a bench says of runs, the runs themselves: so its file can be checked and done again anywhere. */
export function recordedRuns(
  store: TraceStore,
  run_ids: readonly string[],
): { readonly recorded_runs: readonly JsonObject[] } {
  const rows = run_ids.map((run_id) => store.find(run_id));
  return { recorded_runs: rows.flatMap((row) => (row.ok ? [exportedRun(readRunRecord(store, row.value))] : [])) };
}
