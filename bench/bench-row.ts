// Owns the shape of one measured figure. Every bench gives rows of it; the table of docs/performance.md is made of them.

export interface BenchRow {
  readonly metric: string;
  readonly value: number;
  /** What the figure is held against. */
  readonly target: number;
  readonly unit: string;
  readonly ok: boolean;
  readonly note: string;
}
