// Owns doing one thing after the other. Knows nothing of the things. Invariant: a failure, or somebody who stops waiting, holds nobody up.
import { raceAbort, throwIfAborted } from '#base/abort.ts';

export type Serial = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

export function createSerial(): Serial {
  let last: Promise<unknown> = Promise.resolve();
  return async (work, signal) => {
    throwIfAborted(signal);
    const before = last;
    const mine = (async () => {
      await before;
      throwIfAborted(signal);
      return work();
    })();
    last = mine.catch(() => undefined);
    return raceAbort(mine, signal);
  };
}
