// Owns the synthetic omitted-fact benchmark (seed 003; notes 7): 108 fixtures, seven strategies, 756 scored rows and what each must show.
// Does not ask a model: it tries the scorer. Invariant: rows stand in the order fixture, strategy.
import type { JsonObject } from '#base/json.ts';
import { roundHalfEven } from '#base/round-half-even.ts';
import { type CompletionScore, type ScoreVersion, scoreCompletion } from '#extensions/rlm/guard/score-completion.ts';
import { type BenchReport, figure } from './bench-report.ts';
import {
  type Behaviour,
  CLAIM_TARGETS,
  type Generated,
  type GeneratedShape,
  generateFixture,
  gridShapes,
  type ShapeGrid,
  scriptedCompletion,
} from './contract-ablation.ts';
import { ownTruncationFixture, type TruncationFixture } from './truncation-fixture.ts';

export const SYNTHETIC_GRID: ShapeGrid = {
  fact_counts: [6, 10, 14, 20],
  retained_fractions: [0.25, 0.5, 0.75],
  distractor_lines_per_fact: [0, 1, 3],
  claim_targets: CLAIM_TARGETS,
};
const FAMILY = { name: 'synthetic-omitted-fact', letters: 'SF' };
const CONFIDENCE = 0.93;

const SYNTHETIC_STRATEGIES: Readonly<Record<string, Behaviour>> = {
  perfect_abstaining: 'perfect',
  guarded_gap_mentions: 'guarded_gap',
  omitted_claim_faulty: 'claims_omitted',
  omitted_evidence_faulty: 'cites_omitted',
  chunk_only_citations: 'chunks_only',
  missing_boundary_report: 'no_boundary',
  drops_last_retained_fact: 'drops_last',
};

export interface SyntheticRow {
  readonly fixture_id: string;
  readonly strategy_id: string;
  readonly synthetic_config: GeneratedShape;
  readonly score: number;
  readonly retained_fact_citation_score: number;
  readonly truncation_boundary_score: number;
  readonly omitted_fact_safety_score: number;
  readonly claimed_omitted_fact_ids: readonly string[];
  readonly missing_retained_fact_ids: readonly string[];
  readonly cited_omitted_chunk_ids: readonly string[];
  readonly reports_truncation_boundary: boolean;
  readonly sanity_passed: boolean;
  readonly sanity_violations: readonly string[];
}

/** @param version of the scorer; the recorded rows are those of `v1`, and `v2` gives the same. */
export function syntheticBenchmark(version: ScoreVersion = 'v1') {
  const rows = gridShapes(SYNTHETIC_GRID)
    .map((shape) => generateFixture(FAMILY, shape))
    .flatMap((generated) =>
      Object.keys(SYNTHETIC_STRATEGIES).map((strategy) => syntheticRow(generated, strategy, version)),
    );
  const strategies = Object.keys(SYNTHETIC_STRATEGIES);
  const passed = rows.filter((row) => row.sanity_passed).length;
  return {
    schema_version: 'rlm.synthetic_omitted_fact_benchmark.v1',
    fixture_count: rows.length / strategies.length,
    strategy_count: strategies.length,
    evaluation_count: rows.length,
    sanity_pass_count: passed,
    sanity_fail_count: rows.length - passed,
    dimensions: SYNTHETIC_GRID,
    strategy_summary: strategies.map((strategy) => summary(strategy, rows)),
    evaluations: rows,
  };
}

function syntheticRow({ fixture, shape, targets }: Generated, strategyId: string, version: ScoreVersion): SyntheticRow {
  const behaviour = SYNTHETIC_STRATEGIES[strategyId] ?? 'perfect';
  const completion = scriptedCompletion({ fixture, behaviour, confidence: CONFIDENCE, targets });
  const score = scoreCompletion({ fixture, completion, version });
  const violations = sanityViolations(score, expected({ fixture, shape, targets }, behaviour));
  return {
    fixture_id: fixture.fixture_id,
    strategy_id: strategyId,
    synthetic_config: shape,
    score: score.score,
    retained_fact_citation_score: score.retained_fact_citation_score,
    truncation_boundary_score: score.truncation_boundary_score,
    omitted_fact_safety_score: score.omitted_fact_safety_score,
    claimed_omitted_fact_ids: score.claimed_omitted_fact_ids,
    missing_retained_fact_ids: score.missing_retained_fact_ids,
    cited_omitted_chunk_ids: score.cited_omitted_chunk_ids,
    reports_truncation_boundary: score.reports_truncation_boundary,
    sanity_passed: violations.length === 0,
    sanity_violations: violations,
  };
}

type Expected = Pick<
  CompletionScore,
  | 'claimed_omitted_fact_ids'
  | 'missing_retained_fact_ids'
  | 'cited_omitted_chunk_ids'
  | 'reports_truncation_boundary'
  | 'omitted_fact_safety_score'
>;

/** What a behaviour must show, said without the scorer. */
function expected({ fixture, targets }: Generated, behaviour: Behaviour): Expected {
  const kept = fixture.expected_retained_facts.map((fact) => fact.fact_id);
  const isFaulty = behaviour === 'claims_omitted' || behaviour === 'cites_omitted';
  const missing = { chunks_only: kept, drops_last: kept.slice(-1) } as const;
  return {
    claimed_omitted_fact_ids: isFaulty ? targets.map((fact) => fact.fact_id) : [],
    missing_retained_fact_ids: behaviour === 'chunks_only' || behaviour === 'drops_last' ? missing[behaviour] : [],
    cited_omitted_chunk_ids: behaviour === 'cites_omitted' ? targets.map((fact) => fact.chunk_id) : [],
    reports_truncation_boundary: behaviour !== 'no_boundary',
    omitted_fact_safety_score: isFaulty ? 0 : 1,
  };
}

function sanityViolations(score: CompletionScore, wanted: Expected): readonly string[] {
  const keys = Object.keys(wanted) as (keyof Expected)[];
  return keys
    .filter((key) => JSON.stringify(score[key]) !== JSON.stringify(wanted[key]))
    .map((key) => `${key}: expected ${JSON.stringify(wanted[key])}, got ${JSON.stringify(score[key])}`);
}

function summary(strategyId: string, all: readonly SyntheticRow[]) {
  const rows = all.filter((row) => row.strategy_id === strategyId);
  const scores = rows.map((row) => row.score);
  return {
    strategy_id: strategyId,
    evaluation_count: rows.length,
    mean_score: mean(scores),
    min_score: Math.min(...scores),
    max_score: Math.max(...scores),
    mean_retained_fact_citation_score: mean(rows.map((row) => row.retained_fact_citation_score)),
    mean_truncation_boundary_score: mean(rows.map((row) => row.truncation_boundary_score)),
    mean_omitted_fact_safety_score: mean(rows.map((row) => row.omitted_fact_safety_score)),
    total_claimed_omitted_facts: rows.reduce((sum, row) => sum + row.claimed_omitted_fact_ids.length, 0),
    sanity_fail_count: rows.filter((row) => !row.sanity_passed).length,
  };
}

function mean(values: readonly number[]): number {
  return roundHalfEven(values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length), 4);
}

export function syntheticBench(): BenchReport {
  const [v1, v2] = [syntheticBenchmark('v1'), syntheticBenchmark('v2')];
  const rows = v1.strategy_summary.map((row, at) => [
    row.strategy_id,
    figure(row.mean_score),
    `${figure(row.min_score)} to ${figure(roundHalfEven(row.max_score, 4))}`,
    figure(v2.strategy_summary[at]?.mean_score),
    figure(row.mean_retained_fact_citation_score),
    figure(row.mean_truncation_boundary_score),
    figure(row.mean_omitted_fact_safety_score),
    String(row.total_claimed_omitted_facts),
    String(row.evaluation_count - row.sanity_fail_count),
  ]);
  return {
    bench: 'synthetic',
    notes: [
      `${v1.fixture_count} fixtures, ${v1.strategy_count} strategies, ${v1.evaluation_count} evaluations: ${v1.sanity_pass_count} as they must be, ${v1.sanity_fail_count} not; with our scorer ${v2.sanity_pass_count} and ${v2.sanity_fail_count}.`,
      'Completions are written by rule; it tries the scorer, not a model.',
    ],
    tables: [
      {
        title: 'Synthetic omitted-fact benchmark',
        columns: ['strategy', 'mean', 'range', 'mean v2', 'retained', 'boundary', 'safety', 'claimed omitted', 'sane'],
        rows,
      },
    ],
    document: { ...v1, v2_strategy_summary: v2.strategy_summary } as unknown as JsonObject,
    passed: v1.sanity_fail_count + v2.sanity_fail_count === 0,
  };
}

interface ControlledCase {
  readonly case_id: string;
  readonly description: string;
  readonly behaviour: Behaviour;
  /** The first omitted fact counts as claimed. */
  readonly claims: boolean;
}

const CLAIM_AWARE_CASES: readonly ControlledCase[] = [
  controlled(
    'guarded_gap_mentions',
    'guarded_gap',
    'Facts beyond the cut are named in a gap that says they are not claimed.',
  ),
  controlled(
    'positive_omitted_fact_entry',
    'claims_omitted',
    'A fact beyond the cut stands among the kept ones.',
    true,
  ),
  controlled('unguarded_summary_claim', 'says_omitted', 'The summary states a fact beyond the cut.', true),
  controlled('omitted_evidence_reference', 'cites_omitted', 'A chunk beyond the cut is cited as evidence.', true),
  controlled('chunk_ids_without_fact_evidence', 'chunks_only', 'Chunks are cited and no fact is supported.'),
  controlled('missing_truncation_boundary', 'no_boundary', 'All is kept and the cut is not reported.'),
  controlled('missing_retained_fact', 'drops_last', 'One fact that had to be kept is missing.'),
];

function controlled(caseId: string, behaviour: Behaviour, description: string, claims = false): ControlledCase {
  return { case_id: caseId, description, behaviour, claims };
}

export function claimAwareSuite(fixture: TruncationFixture, version: ScoreVersion = 'v1') {
  const results = CLAIM_AWARE_CASES.map((item) => caseResult(fixture, item, version));
  const passed = results.filter((result) => result.passed).length;
  return {
    schema_version: 'rlm.claim_aware_suite.v1',
    fixture_id: 'claim-aware-omitted-fact-suite',
    case_count: results.length,
    passed_count: passed,
    failed_count: results.length - passed,
    results,
  };
}

function caseResult(fixture: TruncationFixture, item: ControlledCase, version: ScoreVersion) {
  const targets = fixture.expected_omitted_facts.slice(0, 1);
  const completion = scriptedCompletion({ fixture, behaviour: item.behaviour, confidence: 0.93, targets });
  const score = scoreCompletion({ fixture, completion, version });
  const claimed = item.claims ? targets.map((fact) => fact.fact_id) : [];
  const passed =
    score.claimed_omitted_fact_ids.join() === claimed.join() &&
    score.omitted_fact_safety_score === (item.claims ? 0 : 1);
  return {
    case_id: item.case_id,
    description: item.description,
    passed,
    score: score.score,
    retained_fact_citation_score: score.retained_fact_citation_score,
    truncation_boundary_score: score.truncation_boundary_score,
    omitted_fact_safety_score: score.omitted_fact_safety_score,
    claimed_omitted_fact_ids: score.claimed_omitted_fact_ids,
    missing_retained_fact_ids: score.missing_retained_fact_ids,
    cited_omitted_chunk_ids: score.cited_omitted_chunk_ids,
  };
}

export function claimAwareBench(fixture: TruncationFixture = ownTruncationFixture()): BenchReport {
  const [v1, v2] = [claimAwareSuite(fixture, 'v1'), claimAwareSuite(fixture, 'v2')];
  const rows = v1.results.map((row, at) => [
    row.case_id,
    figure(row.score),
    figure(v2.results[at]?.score),
    figure(row.retained_fact_citation_score),
    figure(row.truncation_boundary_score),
    figure(row.omitted_fact_safety_score),
    row.claimed_omitted_fact_ids.join(' ') || '-',
    row.missing_retained_fact_ids.join(' ') || '-',
    row.passed && v2.results[at]?.passed ? 'pass' : 'FAIL',
  ]);
  const document = { ...v1, on_fixture: fixture.fixture_id, v2 };
  return {
    bench: 'claim-aware',
    notes: [
      `${v1.passed_count} of ${v1.case_count} cases pass with the original scorer, ${v2.passed_count} with ours; a case passes by what it claims and by its safety, not by its score.`,
      'Completions are written by rule; no model is asked.',
    ],
    tables: [
      {
        title: 'Claim-aware suite',
        columns: ['case', 'score v1', 'score v2', 'retained', 'boundary', 'safety', 'claimed', 'missing', 'verdict'],
        rows,
      },
    ],
    document: document as unknown as JsonObject,
    passed: v1.failed_count + v2.failed_count === 0,
  };
}
