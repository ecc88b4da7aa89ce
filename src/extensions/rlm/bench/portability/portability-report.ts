// Owns what a person reads of the portability matrix: families, cells, what was measured. Pure. Knows no family.
import type { JsonObject } from '#base/json.ts';
import { checkPortabilityFixture, type GuardVerdict } from '../../fixtures/portability-checks.ts';
import type { PortabilityFixture } from '../../fixtures/portability-fixture.ts';
import { contractsOnlyMatrix } from '../../fixtures/portability-plan.ts';
import { buildManifest } from '../../guard/build-manifest.ts';
import type { GuardMode } from '../../guard/parent-claim.ts';
import { validateParentSynthesis } from '../../guard/validate-parent-synthesis.ts';
import { type BenchReport, figure } from '../bench-report.ts';
import type { Matrix } from './run-matrix.ts';

export interface OfflineAsk {
  readonly fixtures: readonly PortabilityFixture[];
  readonly families: readonly string[];
  /** Nothing is checked, only laid out. */
  readonly planOnly: boolean;
}

/** dry-plan and contracts-only: no model is asked. */
export function offlineReport({ fixtures, families, planOnly }: OfflineAsk): BenchReport {
  const guard = (mode: GuardMode) => (fixture: PortabilityFixture, synthesis: unknown) =>
    validateParentSynthesis({ manifest: buildManifest(fixture), synthesis, mode });
  const checked = fixtures.map((fixture) => ({
    strict: checkPortabilityFixture(fixture, guard('strict')),
    v1: checkPortabilityFixture(fixture, guard('v1')),
  }));
  const matrix = contractsOnlyMatrix(
    checked.map(({ strict }) => strict),
    families,
  );
  const passed =
    planOnly || checked.every((one) => one.strict.mandatory_contract_pass && one.v1.mandatory_contract_pass);
  const planned = { run_mode: 'dry_plan', cells: matrix.cells.map(({ contract_checks: _checks, ...cell }) => cell) };
  const document = planOnly
    ? { ...matrix, ...planned, fixture_contract_results: [], aggregate_result: { status: 'planned' } }
    : matrix;
  return {
    bench: planOnly ? 'portability (plan)' : 'portability (contracts only)',
    notes: [
      `${matrix.planned_cell_count} cells planned, ${matrix.primary_cell_count} of them primary: ${fixtures.length} fixtures, families ${families.join(', ')}.`,
      'No model was asked: --mode live-smoke tries one fixture, --mode live-primary all.',
    ],
    tables: planOnly ? [] : [contractTable(checked)],
    document: { ...document, guard_mode: 'strict', fixtures } as unknown as JsonObject,
    passed,
  };
}

type Checked = ReturnType<typeof checkPortabilityFixture<GuardVerdict & { readonly unsupported_claim_rate: number }>>;

function contractTable(checked: readonly { readonly strict: Checked; readonly v1: Checked }[]) {
  return {
    title: 'Contract checks',
    columns: ['fixture', 'safe strict', 'safe v1', 'unsafe strict', 'unsafe v1', 'unsafe rate', 'checks'],
    rows: checked.map(({ strict, v1 }) => [
      strict.fixture_id,
      word(strict.safe_traceguard),
      word(v1.safe_traceguard),
      word(strict.unsafe_traceguard),
      word(v1.unsafe_traceguard),
      figure(v1.unsafe_traceguard.unsupported_claim_rate),
      strict.mandatory_contract_pass && v1.mandatory_contract_pass ? 'pass' : 'FAIL',
    ]),
  };
}

function word({ accepted }: GuardVerdict): string {
  return accepted ? 'accepted' : 'refused';
}

export function matrixReport(matrix: Matrix): BenchReport {
  const { aggregate_result, cells, memory_mode } = matrix;
  return {
    bench: `portability (${matrix.run_mode.replace('_', '-')})`,
    notes: [
      `${matrix.passed_primary_cell_count} of ${matrix.primary_cell_count} cells pass, ${matrix.completed_primary_cell_count} completed: ${aggregate_result.status}.`,
      memory_mode === 'off'
        ? 'Memory was off: a clean run.'
        : `Memory was ${memory_mode}: ${matrix.memory_summary.recalled_priors} priors recalled, ${matrix.memory_summary.stored_observations} observations stored. No clean run; it stands for the feedback loop alone.`,
      aggregate_result.primary_claim,
    ],
    tables: [
      {
        title: 'Families',
        columns: ['family', 'cells', 'completed', 'passed', 'failed', 'mean s', 'status'],
        rows: matrix.family_summary.map((row) => [
          row.family_id,
          String(row.required_completed_primary_cells),
          String(row.completed_primary_cells),
          String(row.passed_primary_cells),
          String(row.failed_primary_cells),
          figure(row.mean_latency_seconds),
          row.status,
        ]),
      },
      {
        title: 'Cells',
        columns: ['fixture', 'family', 'status', 'claims', 'calls', 'tokens', 'cost', 's', 'why'],
        rows: cells.map((cell) => {
          const { secondary_metrics: metrics, trace_structure } = cell.artifact;
          const { token_usage: tokens } = metrics;
          return [
            cell.fixture_id,
            cell.family_id,
            cell.status,
            String(cell.validated_claim_count),
            String(trace_structure.call_count),
            tokens === null ? '-' : String(tokens.input_tokens + tokens.output_tokens),
            figure(metrics.cost_usd),
            figure(cell.latency_seconds),
            cell.error ?? (cell.failures.join(' ') || '-'),
          ];
        }),
      },
    ],
    document: matrix as unknown as JsonObject,
    passed: aggregate_result.status === 'pass',
  };
}
