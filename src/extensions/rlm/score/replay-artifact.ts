// Owns replaying a stored comparison offline (seed 003, "Expected replay signal"; notes 6.4): its completions are scored again, and what
// was recorded is shown beside it. Does not read files. Invariant: no model; figures that disagree are said to disagree.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { roundHalfEven } from '#base/number/round-half-even.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { compareRuns } from './compare-runs.ts';
import type { RunCall } from './trace-coverage.ts';

export interface ReplayRequest {
  /** A stored `rlm.shared_truncation_benchmark.v1`. */
  readonly artifact: unknown;
  /** The truncation fixture that it was run on. */
  readonly fixture: unknown;
}

export interface Replay {
  readonly comparison: ReturnType<typeof compareRuns>;
  /** Both scores, the delta and the winner are the recorded ones. */
  readonly agrees: boolean;
  readonly lines: readonly string[];
}

export function replayArtifact({
  artifact,
  fixture,
}: ReplayRequest): Result<Replay, 'not_an_artifact' | 'other_fixture'> {
  const stored = readArtifact(artifact);
  if (stored === null) return refuse('not_an_artifact', 'the file holds no stored comparison of two runs');
  if (!isJsonObject(fixture) || fixture.fixture_id !== stored.fixtureId)
    return refuse('other_fixture', `the comparison was run on ${stored.fixtureId}`);
  const comparison = compareRuns({
    fixture,
    vanilla: stored.vanilla,
    rlm: { completion: stored.parent, calls: stored.calls },
  });
  const figures = [
    comparison.vanilla_quality.score,
    comparison.rlm_quality.score,
    comparison.score_delta,
    comparison.winner,
  ];
  return ok({
    comparison,
    agrees: figures.every((figure, at) => figure === stored.recorded[at]),
    lines: replayLines(stored, comparison),
  });
}

interface Stored {
  readonly benchmarkId: string;
  readonly fixtureId: string;
  readonly vanilla: JsonValue;
  readonly vanillaCalls: number;
  readonly parent: JsonValue;
  readonly calls: readonly RunCall[];
  readonly recorded: readonly (JsonValue | undefined)[];
}

function readArtifact(artifact: unknown): Stored | null {
  const runner = at(artifact, 'vanilla_output', 'runner_output');
  const execution = at(artifact, 'rlm_output', 'atomic_execution');
  const quality = at(artifact, 'quality_comparison');
  const { benchmark_id, fixture_id } = isJsonObject(artifact) ? artifact : {};
  if (runner === null || execution === null || quality === null) return null;
  if (typeof fixture_id !== 'string' || !Array.isArray(execution.subcalls)) return null;
  return {
    benchmarkId: String(benchmark_id),
    fixtureId: fixture_id,
    vanilla: runner.completion ?? null,
    vanillaCalls: Number(runner.hermes_subcall_count ?? 1),
    parent: execution.final_message ?? null,
    calls: execution.subcalls.filter(isJsonObject).map(readCall),
    recorded: [
      at(quality, 'vanilla_quality')?.score,
      at(quality, 'rlm_quality')?.score,
      quality.score_delta,
      quality.winner,
    ],
  };
}

function readCall(call: JsonObject): RunCall {
  return {
    mode: String(call.mode),
    exit_code: typeof call.exit_code === 'number' ? call.exit_code : null,
    success: call.success === true,
    chunk_id: typeof call.chunk_id === 'string' ? call.chunk_id : null,
  };
}

function at(value: unknown, ...path: readonly string[]): JsonObject | null {
  let here: unknown = value;
  for (const key of path) here = isJsonObject(here) ? here[key] : null;
  return isJsonObject(here) ? here : null;
}

function replayLines(
  stored: Stored,
  { vanilla_quality: single, rlm_quality: recursive, ...rest }: Replay['comparison'],
): readonly string[] {
  const [one, many] = [single.completion_quality, recursive.completion_quality];
  const claimed = [one, many].map((quality) => `[${quality.claimed_omitted_fact_ids.join(', ')}]`);
  const delta = `${rest.score_delta < 0 ? '-' : '+'}${fixed(Math.abs(rest.score_delta))}`;
  return [
    `benchmark: ${stored.benchmarkId}`,
    `fixture: ${stored.fixtureId}`,
    `hermes_subcalls: vanilla=${stored.vanillaCalls}, rlm=${stored.calls.length}`,
    `chunks: selected=${recursive.selected_chunk_ids.length}, omitted=${recursive.omitted_chunk_ids.length}`,
    `quality: vanilla=${fixed(single.score)}, rlm=${fixed(recursive.score)}, delta=${delta}, ` +
      `rlm_outperforms_vanilla=${rest.rlm_outperforms_vanilla ? 'True' : 'False'}`,
    `claimed_omitted_fact_ids: vanilla=${claimed[0]}, rlm=${claimed[1]}`,
    `omitted_fact_safety_score: vanilla=${fixed(one.omitted_fact_safety_score)}, rlm=${fixed(many.omitted_fact_safety_score)}`,
  ];
}

function fixed(score: number): string {
  return roundHalfEven(score, 2).toFixed(2);
}
