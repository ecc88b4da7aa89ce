// Owns when the next unattended run is due. Pure. Invariant: whatever the clock does, a run is never further away than one period from
// the moment that somebody looks, and never follows another at once.

/** The last attempt; `failed` until it has ended well. */
export interface LastRun {
  /** Epoch ms. */
  readonly at: number;
  readonly failed: boolean;
}

const HOUR_MS = 3_600_000;
export const PERIOD_MS = { hourly: HOUR_MS, daily: 24 * HOUR_MS, weekly: 7 * 24 * HOUR_MS } as const;

/** What failed, or found another writer at work, is tried again after this, ms. */
export const RETRY_MS = 600_000;

/** `clock-back`: the last run lies in the future, so its time says nothing; count from now. */
export function runDue(last: LastRun | undefined, now: number, periodMs: number): 'due' | 'waiting' | 'clock-back' {
  if (last === undefined) return 'due';
  if (last.at > now) return 'clock-back';
  return now - last.at >= (last.failed ? Math.min(RETRY_MS, periodMs) : periodMs) ? 'due' : 'waiting';
}
