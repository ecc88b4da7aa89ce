// Owns the side by side of one call and a recursive run over the same chunks (seed 003, "an honest tie"; notes 6.3, 6.4): both really run,
// both scored by the same rules, both judged by the guard. Writes no file. Invariant: a stored artifact replays to the same figures.
import type { JsonObject } from '#base/json.ts';
import { ok, type Result } from '#base/result.ts';
import { roundHalfEven } from '#base/round-half-even.ts';
import type { Engine as BenchEngine } from '#extensions/rlm/engine.ts';
import type { CompletionScore } from '#extensions/rlm/guard/score-completion.ts';
import { compareRuns, type RunCall } from './compare-runs.ts';
import {
  type EngineRun,
  guardVerdict,
  measuredCalls,
  rlmOutput,
  runFixture,
  runMessage,
  subcalls,
} from './run-fixture.ts';
import { type BenchFixture, fixtureLines, runQuestion } from './truncation-fixture.ts';
import { type Baseline, vanillaBaseline } from './vanilla-baseline.ts';

export const COMPARISON_ID = 'rlm-shared-truncation-comparison-v1';

export interface ComparisonAsk {
  readonly bench: BenchFixture;
  readonly families: readonly string[];
}

interface TruncationComparison {
  readonly baseline: Baseline;
  readonly run: EngineRun;
  readonly quality: ReturnType<typeof compareRuns>;
  readonly artifact: JsonObject;
  readonly success: boolean;
}

export async function truncationComparison(
  engine: BenchEngine,
  ask: ComparisonAsk,
  signal: AbortSignal,
): Promise<Result<TruncationComparison, 'fixture-chunks-differ'>> {
  const { bench, families } = ask;
  const baseline = await vanillaBaseline(engine, ask, signal);
  const asked = { fixture: fixtureLines(bench.fixture), question: runQuestion(bench), options: { families } };
  const run = await runFixture(engine, asked, signal);
  if (!run.ok) return run;
  const { text: completion } = runMessage(run.value);
  const calls: readonly RunCall[] = subcalls(run.value.calls);
  const quality = compareRuns({
    fixture: bench.fixture,
    vanilla: baseline.outcome.completion ?? '',
    rlm: { completion, calls },
  });
  const success = baseline.outcome.verdict === 'answered' && run.value.outcome.run_state === 'completed';
  const artifact = artifactOf({ bench, baseline, run: run.value, quality, success });
  return ok({ baseline, run: run.value, quality, artifact, success });
}

type Compared = Omit<TruncationComparison, 'artifact'> & { readonly bench: BenchFixture };

function artifactOf({ bench: { fixture }, baseline, run, quality, success }: Compared): JsonObject {
  const { truncation_config: config, target } = fixture;
  const { text: completion, boundary_reported_by } = runMessage(run);
  const artifact = {
    artifact_type: 'rlm_shared_truncation_benchmark_result',
    schema_version: 'rlm.shared_truncation_benchmark.v1',
    benchmark_id: COMPARISON_ID,
    fixture_id: fixture.fixture_id,
    status: success ? 'completed' : 'failed',
    success,
    target_path: target.path,
    shared_input: {
      selected_chunk_ids: config.expected_selected_chunk_ids,
      omitted_chunk_ids: config.expected_omitted_chunk_ids,
      retained_line_count: config.truncation_boundary.last_retained_line,
      omitted_line_count: config.truncation_boundary.omitted_line_count,
      target_line_count: target.line_count,
    },
    vanilla_output: baseline.artifact,
    rlm_output: rlmOutput(run, target.path),
    boundary_reported_by: { vanilla: 'parent', rlm: boundary_reported_by },
    quality_comparison: quality,
    traceguard: {
      vanilla: baseline.guard,
      rlm: {
        strict: guardVerdict({ fixture, completion, mode: 'strict' }),
        v1: guardVerdict({ fixture, completion, mode: 'v1' }),
      },
    },
    measured: { vanilla: baseline.artifact.measured, rlm: measuredCalls(run.calls) },
    fixture,
  };
  return artifact as unknown as JsonObject;
}

export function comparisonLines({ baseline, run, quality, success }: TruncationComparison): readonly string[] {
  const { vanilla_quality: single, rlm_quality: recursive, score_delta: delta } = quality;
  const [one, many] = [single.completion_quality, recursive.completion_quality];
  const vanilla = baseline.artifact.measured as unknown as ReturnType<typeof measuredCalls>;
  const rlm = measuredCalls(run.calls);
  const { boundary_reported_by } = runMessage(run);
  const sign = delta < 0 ? '-' : '+';
  const done = success ? 'completed' : 'ended without a result';
  return [
    `Shared truncation benchmark ${done}; vanilla Hermes and recursive RLM outputs were recorded.`,
    `hermes_subcalls: vanilla=${vanilla.calls}, rlm=${rlm.calls}`,
    `chunks: selected=${recursive.selected_chunk_ids.length}, omitted=${recursive.omitted_chunk_ids.length}`,
    `quality: vanilla=${fixed(single.score)}, rlm=${fixed(recursive.score)}, delta=${sign}${fixed(Math.abs(delta))}, ` +
      `rlm_outperforms_vanilla=${quality.rlm_outperforms_vanilla ? 'True' : 'False'}`,
    `claimed_omitted_fact_ids: vanilla=[${one.claimed_omitted_fact_ids}], rlm=[${many.claimed_omitted_fact_ids}]`,
    ...differingParts(one, many),
    ...(boundary_reported_by === 'controller'
      ? ['boundary: reported for rlm by the controller, not by the parent']
      : []),
    `traceguard (strict): vanilla=${guardWord(baseline.guard.strict.accepted)}, rlm=${run.outcome.verdict}`,
    `tokens: vanilla=${tokens(vanilla)}, rlm=${tokens(rlm)}; cost: vanilla=${money(vanilla.cost)}, rlm=${money(rlm.cost)}`,
    ...(run.outcome.detail === null ? [] : [`recursive run: ${run.outcome.detail}`]),
    ...(baseline.outcome.detail === null ? [] : [`single call: ${baseline.outcome.detail}`]),
  ];
}

const PARTS = {
  fields: 'required_field_score',
  confidence: 'confidence_score',
  retained: 'retained_fact_citation_score',
  boundary: 'truncation_boundary_score',
  safety: 'omitted_fact_safety_score',
} as const;

/** Where a delta comes from. */
function differingParts(one: CompletionScore, many: CompletionScore): readonly string[] {
  const parts = Object.entries(PARTS).filter(([, key]) => one[key] !== many[key]);
  const shown = parts.map(([name, key]) => `${name} vanilla=${fixed(one[key])} rlm=${fixed(many[key])}`);
  return shown.length === 0 ? [] : [`differs in: ${shown.join(', ')}`];
}

function guardWord(accepted: boolean): string {
  return accepted ? 'accepted' : 'refused';
}

function fixed(score: number): string {
  return roundHalfEven(score, 2).toFixed(2);
}

function tokens({ input_tokens, output_tokens }: ReturnType<typeof measuredCalls>): string {
  return input_tokens === null || output_tokens === null ? 'not told' : `${input_tokens} in ${output_tokens} out`;
}

function money(cost: number | null): string {
  return cost === null ? 'not told' : `$${cost.toFixed(4)}`;
}
