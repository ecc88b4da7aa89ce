// Owns the side by side of one call and a recursive run over the same chunks (seed 003, "an honest tie"; notes 6.3, 6.4): both really run,
// both scored by the same rules, both judged by the guard. Writes no file. Invariant: a stored artifact replays to the same figures.
import type { JsonObject } from '#base/json.ts';
import { ok, type Result } from '#base/result.ts';
import { compareRuns } from '../../score/compare-runs.ts';
import type { RunCall } from '../../score/trace-coverage.ts';
import type { BenchEngine } from '../engine/bench-engine.ts';
import { measuredCalls } from '../engine/measured-calls.ts';
import { type EngineRun, runFixture } from '../engine/run-fixture.ts';
import { guardVerdict } from './guard-verdict.ts';
import { type BenchFixture, fixtureLines, runQuestion } from './load-fixture.ts';
import { rlmOutput, subcalls } from './rlm-output.ts';
import { runMessage } from './run-message.ts';
import { type Baseline, vanillaBaseline } from './vanilla-baseline.ts';

export const COMPARISON_ID = 'rlm-shared-truncation-comparison-v1';

export interface ComparisonAsk {
  readonly bench: BenchFixture;
  readonly families: readonly string[];
}

export interface TruncationComparison {
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
