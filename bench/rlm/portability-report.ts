// Owns what a person reads of the portability matrix: families, cells, what was measured. Pure. Knows no family.
import type { JsonObject } from '#base/json.ts';
import { buildManifest } from '#extensions/rlm/guard/manifest.ts';
import type { GuardMode } from '#extensions/rlm/guard/read-claims.ts';
import { validateParentSynthesis } from '#extensions/rlm/guard/validate-parent-synthesis.ts';
import { type BenchReport, figure } from './bench-report.ts';
import { checkPortabilityFixture, type GuardVerdict, type PortabilityFixture } from './portability-fixture.ts';
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

const CONTRACT_VARIANTS = ['vanilla_single_call', 'flat_chunk_reduce', 'rlm_forge', 'rlm_forge_traceguard'] as const;
const PRIMARY = 'rlm_forge_traceguard';
const NOT_MEASURED = {
  quality_score: null,
  omitted_fact_safety_score: null,
  unsupported_claim_rate: null,
  latency_seconds: null,
  token_usage: null,
  cost_usd: null,
  measurement_status: 'not_measured_in_contracts_only_mode',
} as const;

export type FixtureChecks = ReturnType<typeof checkPortabilityFixture>;

export function contractsOnlyMatrix(checked: readonly FixtureChecks[], familyIds: readonly string[]) {
  const cells = checked.flatMap((fixture) =>
    familyIds.flatMap((family_id) => CONTRACT_VARIANTS.map((variant) => cellOf(fixture, family_id, variant))),
  );
  const primary = cells.filter((cell) => cell.primary_cell);
  const passed = primary.filter((cell) => cell.mandatory_contract_pass === true);
  return {
    schema_version: 'rlm_forge.live_portability_contracts_only.v1',
    run_mode: 'contracts_only',
    live_model_calls: false,
    fixture_count: checked.length,
    runtime_family_count: familyIds.length,
    contract_variant_count: CONTRACT_VARIANTS.length,
    planned_cell_count: cells.length,
    primary_cell_count: primary.length,
    contract_variants: CONTRACT_VARIANTS,
    cells,
    cell_count: cells.length,
    live_evaluation_count: 0,
    deterministic_primary_contract_check_count: primary.length,
    primary_contract_pass_count: passed.length,
    primary_contract_fail_count: primary.length - passed.length,
    aggregate_result: {
      status: passed.length === primary.length ? 'preflight_pass' : 'preflight_fail',
      primary_claim_status: 'not_evaluated_without_live_provider_calls',
      required_completed_primary_cells_per_family: checked.length,
    },
    family_summary: familyIds.map((family_id) =>
      familySummary(
        family_id,
        primary.filter((cell) => cell.family_id === family_id),
      ),
    ),
    fixture_contract_results: checked,
  };
}

type Cell = ReturnType<typeof cellOf>;

function cellOf(fixture: FixtureChecks, family_id: string, contract_variant: string) {
  const isPrimary = contract_variant === PRIMARY;
  const passed = fixture.mandatory_contract_pass;
  return {
    fixture_id: fixture.fixture_id,
    fixture_category: fixture.fixture_category,
    family_id,
    contract_variant,
    primary_cell: isPrimary,
    planned_status: 'requires_live_execution',
    completed: isPrimary,
    status: isPrimary ? `deterministic_contract_${passed ? 'pass' : 'fail'}` : 'planned_live_secondary_cell',
    failure_classification: isPrimary ? (passed ? 'pass' : 'primary_contract_failure') : 'not_executed',
    mandatory_contract_pass: isPrimary ? passed : null,
    contract_checks: isPrimary ? fixture.contract_checks : [],
    secondary_metrics: NOT_MEASURED,
  };
}

function familySummary(family_id: string, cells: readonly Cell[]) {
  const passed = cells.filter((cell) => cell.mandatory_contract_pass === true).length;
  return {
    family_id,
    required_completed_primary_cells: cells.length,
    planned_primary_cells: cells.length,
    completed_primary_cells: cells.filter((cell) => cell.completed).length,
    passed_primary_cells: passed,
    failed_primary_cells: cells.length - passed,
    infra_skipped_primary_cells: 0,
    status: passed === cells.length ? 'preflight_pass' : 'preflight_fail',
  };
}
