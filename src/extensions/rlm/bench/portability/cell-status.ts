// Owns what cells, families and a matrix come to (notes 10.4) and ours beside it: a pass without a checked claim is a failure. Pure.
// Invariant: what did not complete is neither a pass nor a failure; one family that is not supported fails the matrix.

export type CellClass = 'pass' | 'primary_contract_failure' | 'infra_skip' | 'infra_timeout';

export interface CellFindings {
  readonly completed: boolean;
  readonly timed_out: boolean;
  readonly accepted: boolean;
  readonly covered: boolean;
  readonly fresh_facts: number;
  readonly wanted_facts: number;
  readonly validated_claims: number;
  readonly fixture_accepted: boolean;
}

export interface CellVerdict {
  readonly status: 'live_contract_pass' | 'live_contract_fail' | 'infra_skip' | 'infra_timeout';
  readonly failure_classification: CellClass;
  readonly mandatory_contract_pass: boolean;
  /** Why it is no pass. */
  readonly failures: readonly string[];
}

export function cellVerdict(found: CellFindings): CellVerdict {
  if (!found.completed) {
    const failure = found.timed_out ? 'infra_timeout' : 'infra_skip';
    return { status: failure, failure_classification: failure, mandatory_contract_pass: false, failures: [failure] };
  }
  const failures = [
    ...(found.accepted ? [] : ['traceguard_rejected']),
    ...(found.covered ? [] : ['selected_chunk_coverage_failed']),
    ...(found.fresh_facts === found.wanted_facts ? [] : ['fresh_child_evidence_failed']),
    ...(found.validated_claims > 0 ? [] : ['vacuous_pass']),
    ...(found.fixture_accepted ? [] : ['fixture_manifest_rejected']),
  ];
  const passed = failures.length === 0;
  return {
    status: passed ? 'live_contract_pass' : 'live_contract_fail',
    failure_classification: passed ? 'pass' : 'primary_contract_failure',
    mandatory_contract_pass: passed,
    failures,
  };
}

export interface CellResult {
  readonly family_id: string;
  readonly completed: boolean;
  readonly failure_classification: CellClass;
  readonly latency_seconds: number | null;
}

export interface FamilySummary {
  readonly family_id: string;
  readonly required_completed_primary_cells: number;
  readonly completed_primary_cells: number;
  readonly passed_primary_cells: number;
  readonly failed_primary_cells: number;
  readonly infra_skipped_primary_cells: number;
  /** Of the completed ones; null: none. */
  readonly mean_latency_seconds: number | null;
  readonly status: 'pass' | 'contract_failure' | 'not_supported' | 'incomplete';
}

export function familySummary(family_id: string, all: readonly CellResult[], required: number): FamilySummary {
  const cells = all.filter((cell) => cell.family_id === family_id);
  const completed = cells.filter((cell) => cell.completed);
  const passed = completed.filter((cell) => cell.failure_classification === 'pass').length;
  const failed = completed.length - passed;
  const seconds = completed.flatMap(({ latency_seconds }) => latency_seconds ?? []);
  return {
    family_id,
    required_completed_primary_cells: required,
    completed_primary_cells: completed.length,
    passed_primary_cells: passed,
    failed_primary_cells: failed,
    infra_skipped_primary_cells: cells.length - completed.length,
    mean_latency_seconds:
      seconds.length === 0
        ? null
        : Math.round((seconds.reduce((sum, one) => sum + one, 0) / seconds.length) * 1000) / 1000,
    status: familyStatus({ failed, completed: completed.length, required }),
  };
}

interface Counts {
  readonly failed: number;
  readonly completed: number;
  readonly required: number;
}

function familyStatus({ failed, completed, required }: Counts): FamilySummary['status'] {
  if (failed >= 2) return 'not_supported';
  if (failed === 1) return 'contract_failure';
  return completed < required ? 'incomplete' : 'pass';
}

export function aggregateStatus(families: readonly FamilySummary[]): 'pass' | 'fail' | 'inconclusive' {
  if (families.some(({ status }) => status === 'not_supported')) return 'fail';
  const isWhole = ({ passed_primary_cells, failed_primary_cells, required_completed_primary_cells }: FamilySummary) =>
    failed_primary_cells === 0 && passed_primary_cells >= required_completed_primary_cells;
  return families.length > 0 && families.every(isWhole) ? 'pass' : 'inconclusive';
}
