// Owns comparing one call with a recursive run on the same cut text (seed 003, "an honest tie"; notes 6.3). Does not run anything.
// Invariant: a tie is called a tie; the bonus of the trace term is shown apart from the completion's own score.
import { isJsonObject } from '#base/json.ts';
import { roundHalfEven } from '#base/number/round-half-even.ts';
import { type CompletionScore, type ScoreVersion, scoreCompletion } from './score-completion.ts';
import { readScoreFixture, type ScoreFixture } from './score-fixture.ts';
import { type RunCall, traceCoverage } from './trace-coverage.ts';

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
