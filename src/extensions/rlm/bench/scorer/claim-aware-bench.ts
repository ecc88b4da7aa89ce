// Owns the claim-aware suite as a report (notes 9): seven completions, both scorers, and the guard's word beside them. Pure, no model.
import type { JsonObject } from '#base/json.ts';
import { claimAwareSuite } from '../../fixtures/claim-aware-suite.ts';
import type { TruncationFixture } from '../../fixtures/truncation-fixture.ts';
import { type BenchReport, figure } from '../bench-report.ts';
import { ownTruncationFixture } from '../modes/own-fixture.ts';

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
