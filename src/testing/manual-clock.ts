// Owns a clock that a test turns by hand. Knows nothing of what waits on it.
// Invariant: timers run in order of their due time, each seeing exactly that time; nothing runs before `advance` (or, with `auto`, before it is awaited).
import { type Clock, systemClock } from '#base/clock.ts';

export interface ManualClockOptions {
  /** Epoch ms at the start; default 2026-01-15T12:00:00Z. */
  readonly now?: number;
  /** `sleep` moves the clock by itself and resolves at once: for code whose waiting is not the matter of the test. */
  readonly auto?: boolean;
}

export interface ManualClock extends Clock {
  /** Moves both clocks forward and runs what falls due; resolves when the awaiting code had its turn. */
  advance(ms: number): Promise<void>;
  /** Moves the wall clock only, back or forth: no timer runs. */
  jump(ms: number): void;
  /** Every `sleep` so far, ms, oldest first. */
  readonly slept: readonly number[];
  /** Timers that have not run and were not cancelled. */
  readonly pending: number;
}

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly run: () => void;
}

export function createManualClock(options: ManualClockOptions = {}): ManualClock {
  const timers = new Set<Timer>();
  const slept: number[] = [];
  let elapsed = 0;
  let offset = options.now ?? 1_768_478_400_000;
  let order = 0;

  const after = (ms: number, run: () => void): (() => void) => {
    const timer: Timer = { due: elapsed + Math.max(0, ms), order: order++, run };
    timers.add(timer);
    return () => timers.delete(timer);
  };

  const advance = async (ms: number): Promise<void> => {
    const until = elapsed + ms;
    for (let next = earliest(timers, until); next; next = earliest(timers, until)) {
      timers.delete(next);
      elapsed = Math.max(elapsed, next.due);
      next.run();
      await systemClock.sleep(0);
    }
    elapsed = until;
    await systemClock.sleep(0);
  };

  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    slept.push(ms);
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (options.auto) {
      elapsed += ms;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = after(ms, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  };

  return {
    now: () => offset + elapsed,
    monotonic: () => elapsed,
    sleep,
    after,
    advance,
    jump: (ms) => {
      offset += ms;
    },
    slept,
    get pending() {
      return timers.size;
    },
  };
}

function earliest(timers: ReadonlySet<Timer>, until: number): Timer | undefined {
  let first: Timer | undefined;
  for (const timer of timers) {
    if (timer.due > until) continue;
    if (!first || timer.due < first.due || (timer.due === first.due && timer.order < first.order)) first = timer;
  }
  return first;
}
