// Owns comparing one call with a recursive run on the same cut text (seed 003, "an honest tie"; notes 6.3). Does not run anything.
// Invariant: a tie is called a tie; the bonus of the trace term is shown apart from the completion's own score.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { roundHalfEven } from '#base/round-half-even.ts';
import { type CompletionScore, type ScoreVersion, scoreCompletion } from '#extensions/rlm/guard/score-completion.ts';
import { readScoreFixture, type ScoreFixture } from '#extensions/rlm/guard/score-fixture.ts';

const TIE_EPSILON = 0.0001;

export interface Comparison {
  readonly fixture: unknown;
  /** The completion of the single call. */
  readonly vanilla: unknown;
  /** The parent's completion and the calls in their order, the parent's last. */
  readonly rlm: { readonly completion: unknown; readonly calls: readonly RunCall[] };
  readonly version?: ScoreVersion;
}

export function compareRuns({ fixture, vanilla, rlm, version = 'v1' }: Comparison) {
  const rules = readScoreFixture(isJsonObject(fixture) ? fixture : {});
  const single = vanillaQuality(rules, scoreCompletion({ fixture, completion: vanilla, version }));
  const recursive = recursiveQuality(
    rules,
    scoreCompletion({ fixture, completion: rlm.completion, version }),
    rlm.calls,
  );
  const delta = roundHalfEven(recursive.score - single.score, 4);
  const winner = Math.abs(delta) <= TIE_EPSILON ? 'tie' : delta > 0 ? 'rlm' : 'vanilla';
  return {
    schema_version: 'rlm.quality_comparison.v1',
    comparison_method: 'deterministic_score_delta_v1',
    score_delta: delta,
    tie_epsilon: TIE_EPSILON,
    winner,
    rlm_outperforms_vanilla: winner === 'rlm',
    summary: {
      tie: 'Both score the same.',
      rlm: 'The recursive run scores higher.',
      vanilla: 'The single call scores higher.',
    }[winner],
    vanilla_quality: single,
    rlm_quality: recursive,
  } as const;
}

function vanillaQuality(rules: ScoreFixture, completion: CompletionScore) {
  return {
    ...head('vanilla_hermes_baseline', rules, completion),
    score: completion.score,
    recursive_chunk_coverage_score: null,
    parent_synthesis_observed: false,
    parent_synthesis_score: null,
    recursive_trace_score: null,
    successful_recursive_chunk_ids: [],
    missing_recursive_chunk_ids: [],
  };
}

function recursiveQuality(rules: ScoreFixture, completion: CompletionScore, calls: readonly RunCall[]) {
  const { successful, missing, coverage, parentObserved, trace } = traceCoverage(rules.selectedChunkIds, calls);
  return {
    ...head('recursive_rlm', rules, completion),
    score: roundHalfEven(0.8 * completion.score + 0.2 * trace, 4),
    recursive_chunk_coverage_score: roundHalfEven(coverage, 4),
    parent_synthesis_observed: parentObserved,
    parent_synthesis_score: parentObserved ? 1 : 0,
    recursive_trace_score: roundHalfEven(trace, 4),
    successful_recursive_chunk_ids: successful,
    missing_recursive_chunk_ids: missing,
  };
}

function head(outputKind: string, rules: ScoreFixture, completion: CompletionScore) {
  return {
    schema_version: 'rlm.truncation_output_quality.v1',
    scoring_method: 'truncation_fixture_completion_and_trace_v1',
    output_kind: outputKind,
    selected_chunk_ids: rules.selectedChunkIds,
    omitted_chunk_ids: rules.omittedChunkIds,
    completion_quality: completion,
    completion_quality_score: completion.score,
  };
}

export interface RunCall {
  readonly mode: string;
  readonly exit_code: number | null;
  readonly success: boolean;
  readonly chunk_id: string | null;
  /** Child results that this call was given; left out, the chunk calls before it are counted. */
  readonly recorded_child_results?: number;
}

export interface TraceCoverage {
  readonly successful: readonly string[];
  readonly missing: readonly string[];
  readonly coverage: number;
  readonly parentObserved: boolean;
  readonly trace: number;
}

function traceCoverage(selected: readonly string[], calls: readonly RunCall[]): TraceCoverage {
  const read = new Set(
    calls.filter((call) => call.success && call.mode !== 'synthesize_parent').map((call) => call.chunk_id),
  );
  const successful = selected.filter((chunkId) => read.has(chunkId));
  const coverage = selected.length === 0 ? 1 : successful.length / selected.length;
  const parentObserved = endsWithParent(selected, calls);
  return {
    successful,
    missing: selected.filter((chunkId) => !read.has(chunkId)),
    coverage,
    parentObserved,
    trace: 0.75 * coverage + 0.25 * (parentObserved ? 1 : 0),
  };
}

function endsWithParent(selected: readonly string[], calls: readonly RunCall[]): boolean {
  const last = calls.at(-1);
  if (last === undefined || last.mode !== 'synthesize_parent' || last.exit_code !== 0) return false;
  const recorded = last.recorded_child_results ?? calls.slice(0, -1).filter((call) => call.chunk_id !== null).length;
  return recorded >= selected.length;
}

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
