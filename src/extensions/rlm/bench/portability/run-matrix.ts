// Owns the live matrix (notes 10): every fixture through every family, cell after cell, a checkpoint after each, what they come to together.
// Knows no file: checkpoints are handed out. Invariant: a matrix that is stopped keeps the cells it has; runs with memory are said to be such.
import { buildPortabilityFixture, type PortabilityFixture } from '../../fixtures/portability-fixture.ts';
import { OPTIONAL_SPECS, SHARED_SPECS } from '../../fixtures/portability-set.ts';
import type { BenchEngine } from '../engine/bench-engine.ts';
import { aggregateStatus, familySummary } from './cell-status.ts';
import { type CellMemory, type LiveCell, runCell } from './run-cell.ts';

export type LiveMode = 'live-smoke' | 'live-primary';

export interface MatrixAsk {
  readonly mode: LiveMode;
  readonly families: readonly string[];
  readonly fixtures: readonly PortabilityFixture[];
  readonly memory: CellMemory;
  readonly checkpoint: (matrix: Matrix) => void;
}

export type Matrix = ReturnType<typeof matrixOf>;

/** @param count 8: those that every family runs; 12: the optional ones too */
export function portabilityFixtures(count: 8 | 12): readonly PortabilityFixture[] {
  const specs = count === 8 ? SHARED_SPECS : [...SHARED_SPECS, ...OPTIONAL_SPECS];
  return specs.map(buildPortabilityFixture);
}

export async function runMatrix(engine: BenchEngine, ask: MatrixAsk, signal: AbortSignal): Promise<Matrix> {
  const fixtures = ask.mode === 'live-smoke' ? ask.fixtures.slice(0, 1) : ask.fixtures;
  const cells: LiveCell[] = [];
  for (const family_id of ask.families) {
    for (const fixture of fixtures) {
      if (signal.aborted) break;
      cells.push(await runCell(engine, { fixture, family_id, memory: ask.memory }, signal));
      ask.checkpoint(matrixOf({ ...ask, fixtures }, [...cells]));
    }
  }
  return matrixOf({ ...ask, fixtures }, cells);
}

function matrixOf({ mode, families, fixtures, memory }: MatrixAsk, cells: readonly LiveCell[]) {
  const required = fixtures.length;
  const summaries = families.map((family) => familySummary(family, cells, required));
  const passed = cells.filter((cell) => cell.mandatory_contract_pass).length;
  const completed = cells.filter((cell) => cell.completed).length;
  return {
    schema_version: 'rlm_forge.live_portability_primary.v1',
    run_mode: mode.replace('-', '_'),
    live_model_calls: true,
    memory_mode: memory.mode.mode,
    clean: memory.mode.mode === 'off',
    fixture_count: required,
    runtime_family_count: families.length,
    primary_cell_count: required * families.length,
    completed_primary_cell_count: completed,
    passed_primary_cell_count: passed,
    vacuous_pass_count: cells.filter((cell) => cell.mandatory_contract_pass && cell.validated_claim_count === 0).length,
    aggregate_result: {
      status: aggregateStatus(summaries),
      required_completed_primary_cells_per_family: required,
      primary_claim:
        'The contract of child evidence and parent synthesis was kept or not, cell by cell. Nothing is said of the quality of a model.',
    },
    family_summary: summaries,
    memory_summary: {
      recalled_priors: cells.reduce((sum, { artifact }) => sum + artifact.memory_trace.recalled_priors.length, 0),
      stored_observations: cells.reduce(
        (sum, { artifact }) => sum + artifact.memory_trace.stored_observations.length,
        0,
      ),
      rejected_candidates: cells.reduce(
        (sum, { artifact }) => sum + artifact.memory_trace.contamination_guard.rejected_count,
        0,
      ),
    },
    cells,
  };
}
