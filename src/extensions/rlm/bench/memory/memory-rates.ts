// Owns the means over judged parents (notes 11). Pure.
import { roundHalfEven } from '#base/number/round-half-even.ts';
import type { JudgedParent } from './judge-parent.ts';

export interface MemoryRates {
  readonly evaluations: number;
  readonly initial_accept_rate: number;
  readonly final_accept_rate: number;
  readonly mean_repairs: number;
  readonly mean_calls: number;
  readonly mean_unsupported_claim_rate: number;
}

export function memoryRates(rows: readonly JudgedParent[]): MemoryRates {
  const mean = (value: (row: JudgedParent) => number): number =>
    roundHalfEven(rows.reduce((sum, row) => sum + value(row), 0) / Math.max(1, rows.length), 4);
  return {
    evaluations: rows.length,
    initial_accept_rate: mean((row) => Number(row.initial_accept)),
    final_accept_rate: mean((row) => Number(row.final_accept)),
    mean_repairs: mean((row) => row.repairs),
    mean_calls: mean((row) => row.calls),
    mean_unsupported_claim_rate: mean((row) => row.unsupported_claim_rate),
  };
}
