// Owns the synthetic omitted-fact benchmark as a report (notes 7): 108 fixtures, seven strategies, both scorers. Pure, no model.
import type { JsonObject } from '#base/json.ts';
import { roundHalfEven } from '#base/number/round-half-even.ts';
import { syntheticBenchmark } from '../../fixtures/synthetic-benchmark.ts';
import { type BenchReport, figure } from '../bench-report.ts';

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
