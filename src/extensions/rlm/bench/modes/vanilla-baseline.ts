// Owns the baseline of the truncation fixture (notes 6.4): one call, its score, its artifact. Writes no file.
// Invariant: exactly one call, whatever comes back; what was not told is null.
import type { JsonObject } from '#base/json.ts';
import { createCalls } from '../../call/create-calls.ts';
import type { GuardMode } from '../../guard/parent-claim.ts';
import { scoreCompletion } from '../../score/score-completion.ts';
import { extractJson } from '../../text/extract-json.ts';
import { newRunId } from '../../trace/run-id.ts';
import type { BenchEngine } from '../engine/bench-engine.ts';
import { fixtureBytes } from '../engine/fixture-request.ts';
import { measuredCalls } from '../engine/measured-calls.ts';
import { stampOf } from '../engine/run-fixture.ts';
import { executeVanilla, type VanillaOutcome, type VanillaRequest } from './execute-vanilla.ts';
import { guardVerdict } from './guard-verdict.ts';
import type { BenchFixture } from './load-fixture.ts';
import { VANILLA_BASELINE_ID, VANILLA_CALL_ID, VANILLA_SYSTEM, vanillaPrompt } from './vanilla-prompt.ts';

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
  const stamp = stampOf(fixture.target.path, fixtureBytes(fixture.target.lines));
  const plain = request as unknown as JsonObject;
  const trace = store.begin({ run_id, kind: 'vanilla', request: plain, root: '', sources: [stamp] });
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
