// Owns sharing the process: long work on many skills lets everything else run in between. Knows no skill.
import type { Clock } from '#base/clock.ts';

const SLICE_MS = 12;

/** A function to await between two pieces of work: it returns at once until a slice is used up. Rejects when the signal aborts. */
export function workSlices(clock: Clock, signal?: AbortSignal): () => Promise<void> {
  let began = clock.monotonic();
  return async () => {
    signal?.throwIfAborted();
    if (clock.monotonic() - began < SLICE_MS) return;
    await clock.sleep(0, signal);
    began = clock.monotonic();
  };
}
