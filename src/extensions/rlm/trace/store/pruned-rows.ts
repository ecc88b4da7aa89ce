// Owns which runs may go. Pure. Invariant: a run that somebody works on stays; the newest `keep` stay whatever their age.
import type { RunRow } from '../run-row.ts';
import type { PruneOptions } from '../trace-store.ts';

export interface PruneRule extends Pick<PruneOptions, 'keep' | 'killed'> {
  /** Epoch ms: only what began earlier goes. */
  readonly before: number;
  readonly isAlive: (row: RunRow) => boolean;
}

/** `rows`: all, newest first. */
export function prunedRows(
  rows: readonly RunRow[],
  { before, keep = 0, killed = false, isAlive }: PruneRule,
): readonly RunRow[] {
  const old = rows.slice(keep).filter((row) => row.started_at < before);
  return old.filter((row) => row.ended_at !== null || (killed && !isAlive(row)));
}
