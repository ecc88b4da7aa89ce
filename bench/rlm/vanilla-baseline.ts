// Owns the baseline of the truncation fixture (notes 6.4): one call, its score, its artifact. Writes no file.
// Invariant: exactly one call, whatever comes back; what was not told is null.
import type { JsonObject } from '#base/json.ts';
import type { CallRecord, Calls } from '#extensions/rlm/call/call-record.ts';
import { createCalls } from '#extensions/rlm/call/calls.ts';
import { type Engine as BenchEngine, RUN_ENGINES } from '#extensions/rlm/engine.ts';
import { extractJson } from '#extensions/rlm/guard/extract-json.ts';
import type { GuardMode } from '#extensions/rlm/guard/read-claims.ts';
import { scoreCompletion } from '#extensions/rlm/guard/score-completion.ts';
import { REQUIRED_OUTPUT_FIELDS, TOKEN_BUDGET } from '#extensions/rlm/scaffold/envelope.ts';
import type { RunTrace } from '#extensions/rlm/trace/live-trace.ts';
import type { RunEngine, RunEngines } from '#extensions/rlm/trace/replay.ts';
import { newRunId } from '#extensions/rlm/trace/run-record.ts';
import { fixtureSource, guardVerdict, measuredCalls } from './run-fixture.ts';
import { type BenchFixture, chunkLines, fixtureQuestion } from './truncation-fixture.ts';

export interface Baseline {
  readonly run_id: string;
  readonly outcome: VanillaOutcome;
  /** `rlm_vanilla_baseline_result`. */
  readonly artifact: JsonObject;
  readonly guard: Readonly<Record<GuardMode, ReturnType<typeof guardVerdict>>>;
}

export interface BaselineAsk {
  readonly bench: BenchFixture;
  readonly families: readonly string[];
}

export async function vanillaBaseline(engine: BenchEngine, ask: BaselineAsk, signal: AbortSignal): Promise<Baseline> {
  const { store, clock, inner, call_timeout_ms } = engine;
  const { fixture } = ask.bench;
  const request: VanillaRequest = {
    schema_version: 'talaria.rlm.vanilla_request.v1',
    system: VANILLA_SYSTEM,
    prompt: vanillaPrompt(ask.bench),
    chunk_ids: fixture.truncation_config.expected_selected_chunk_ids,
    families: ask.families,
  };
  const run_id = newRunId('vanilla', clock);
  const { source } = fixtureSource(fixture.target);
  const plain = request as unknown as JsonObject;
  const trace = store.begin({ run_id, kind: 'vanilla', request: plain, root: '', sources: [source] });
  const timeout = call_timeout_ms === undefined ? {} : { call_timeout_ms };
  const calls = createCalls({ inner, trace, budget: {}, clock, run: run_id, ...timeout });
  const outcome = await executeVanilla({ request, trace, calls, signal });
  const artifact = artifactOf(ask.bench, outcome, store.calls(run_id));
  const guard = (mode: GuardMode) => guardVerdict({ fixture, completion: outcome.completion, mode });
  return { run_id, outcome, artifact, guard: { strict: guard('strict'), v1: guard('v1') } };
}

function artifactOf(
  { fixture }: BenchFixture,
  { completion, verdict, detail }: VanillaOutcome,
  calls: Parameters<typeof measuredCalls>[0],
): JsonObject {
  const { truncation_config: config, target } = fixture;
  const quality = scoreCompletion({ fixture, completion: completion ?? '' });
  const parsed = completion === null ? null : extractJson(completion);
  const [record] = calls;
  const measured = measuredCalls(calls);
  const common = {
    call_id: VANILLA_CALL_ID,
    completion_hash: record?.response_hash ?? null,
    elapsed_ms: measured.elapsed_ms,
    error_message: detail,
    hermes_subcall_count: measured.calls,
    output_quality: quality,
    status: verdict === 'answered' ? 'completed' : verdict,
    success: verdict === 'answered',
  };
  const artifact = {
    artifact_type: 'rlm_vanilla_baseline_result',
    schema_version: 'rlm.evaluation.output.v1',
    benchmark_id: VANILLA_BASELINE_ID,
    baseline: {
      ...common,
      baseline_id: VANILLA_BASELINE_ID,
      fixture_id: fixture.fixture_id,
      prompt_hash: record?.prompt_hash ?? null,
      output_quality_score: quality.score,
      selected_chunk_ids: config.expected_selected_chunk_ids,
      omitted_chunk_ids: config.expected_omitted_chunk_ids,
      omitted_line_count: config.truncation_boundary.omitted_line_count,
      retained_line_count: config.truncation_boundary.last_retained_line,
      target_line_count: target.line_count,
      target_path: target.path,
    },
    runner_output: {
      ...common,
      mode: 'vanilla_single_pass',
      completion,
      completion_json: parsed?.ok === true ? parsed.value : null,
    },
    measured,
    answer_key_supplied: false,
    cited_source_file_count: 0,
    generated_rlm_tree_depth: 0,
    source_evidence: [],
  };
  return artifact as unknown as JsonObject;
}

/** Plain JSON: the request of the run's row. */
export interface VanillaRequest {
  readonly schema_version: 'talaria.rlm.vanilla_request.v1';
  readonly system: string;
  readonly prompt: string;
  readonly chunk_ids: readonly string[];
  readonly families: readonly string[];
}

interface VanillaOutcome {
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

const vanillaEngine: RunEngine = async ({ row, trace, calls }, signal) => {
  await executeVanilla({ request: row.request as unknown as VanillaRequest, trace, calls, signal });
};

/** With the baseline, which the package does not do again. */
export const BENCH_ENGINES: RunEngines = { ...RUN_ENGINES, vanilla: vanillaEngine };

const VANILLA_VERSION = 'rlm.vanilla_baseline.input.v1';
const VANILLA_CALL_ID = 'rlm_call_vanilla_truncation_baseline';
const VANILLA_BASELINE_ID = 'rlm-vanilla-truncation-baseline-v1';

export const VANILLA_SYSTEM = [
  'You answer one question about the supplied chunks, in one pass. You have no tools.',
  'Reply with one bare JSON object and nothing else, with exactly these keys: mode, verdict, confidence, result, evidence_references, residual_gaps.',
  'result holds summary, retained_facts [{fact_id, text, evidence_chunk_id}] and truncation_report {last_retained_line, omitted_line_count}.',
  'evidence_references holds [{chunk_id, supports_fact_ids, quoted_evidence}].',
  'State only facts that stand in a supplied chunk, word for word, with the id that stands there. Nothing of an omitted chunk is known to you.',
].join('\n');

export function vanillaPrompt(bench: BenchFixture): string {
  const { fixture } = bench;
  const { target, truncation_config: config } = fixture;
  const chunks = chunkLines({ path: target.path, lines: target.lines, limit: config.chunk_line_limit });
  return JSON.stringify({
    schema_version: VANILLA_VERSION,
    mode: 'vanilla_single_pass',
    call_context: { call_id: VANILLA_CALL_ID, parent_call_id: null, depth: 0 },
    baseline_id: VANILLA_BASELINE_ID,
    objective: { instruction: fixtureQuestion(bench), success_criteria: [], non_goals: [] },
    constraints: {
      single_pass: true,
      must_not_recurse: true,
      must_use_supplied_context_only: true,
      token_budget: TOKEN_BUDGET,
    },
    context: {
      fixture: {
        fixture_id: fixture.fixture_id,
        target: { path: target.path, line_count: target.line_count },
        chunk_line_limit: config.chunk_line_limit,
        max_atomic_chunks: config.max_atomic_chunks,
      },
      retained_chunks: chunks
        .slice(0, config.max_atomic_chunks)
        .map((chunk) => ({ ...chunk, source_path: target.path })),
      omitted_chunk_ids: config.expected_omitted_chunk_ids,
      truncation_boundary: config.truncation_boundary,
    },
    output_contract: { format: 'json', required_fields: REQUIRED_OUTPUT_FIELDS },
  });
}
