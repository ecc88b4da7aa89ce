// Owns work that goes on beside the turns: each promise is held, and drained at shutdown (design: no floating work).
// Knows no kind of work. Invariant: a failure is reported once, never thrown into the void.
import { type Clock, systemClock } from '#base/clock.ts';

export interface Background {
  /** Aborts when shutdown begins: work that can stop early should. */
  readonly signal: AbortSignal;
  hold(name: string, work: Promise<unknown>): void;
  /** Waits for all held work, `patienceMs` at most. Gives the names of what was left running. */
  drain(patienceMs: number): Promise<readonly string[]>;
}

export function createBackground(
  onFailure: (name: string, error: unknown) => void,
  clock: Clock = systemClock,
): Background {
  const running = new Map<Promise<unknown>, string>();
  const controller = new AbortController();
  return {
    signal: controller.signal,
    hold(name, work) {
      const held = work
        .catch((error: unknown) => {
          if (!controller.signal.aborted) onFailure(name, error);
        })
        .finally(() => running.delete(held));
      running.set(held, name);
    },
    async drain(patienceMs) {
      controller.abort();
      const patience = new AbortController();
      const settled = Promise.all(running.keys()).then(() => patience.abort());
      await Promise.race([settled, clock.sleep(patienceMs, patience.signal).catch(() => undefined)]);
      return [...running.values()];
    },
  };
}
