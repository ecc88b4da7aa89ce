/** One measured figure beside its target, and the few statistics that the rows need. */

export interface BenchRow {
  readonly metric: string;
  readonly value: number;
  readonly target: string;
  readonly unit: string;
  readonly ok: boolean;
  /** How it was measured: runs, spread, what was left out. */
  readonly note: string;
}

/** A row whose figure should be no larger than `most`. */
export function atMost(most: number, row: Omit<BenchRow, 'target' | 'ok'>): BenchRow {
  return { ...row, target: `≤ ${most.toLocaleString('en-US')}`, ok: row.value <= most };
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** `share` 0 to 1, nearest rank. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

/** `min 1.2, max 3.4` */
export function spread(values: readonly number[], digits = 2): string {
  return `min ${Math.min(...values).toFixed(digits)}, max ${Math.max(...values).toFixed(digits)}`;
}
