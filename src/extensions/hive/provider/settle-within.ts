// Owns waiting for work no longer than one can afford, without touching the work. Knows nothing of it.
// Invariant: nothing stays behind on a signal that outlives the wait.
import type { Clock } from '#base/clock.ts';

/** True when the work has settled in time. Rejects only with the signal's reason. */
export function settledWithin(
  work: Promise<unknown>,
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
  signal: AbortSignal,
): Promise<boolean> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      cancel();
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = (): void => end(() => reject(signal.reason));
    const cancel = clock.after(Math.max(0, ms), () => end(() => resolve(false)));
    signal.addEventListener('abort', onAbort, { once: true });
    const settled = (): void => end(() => resolve(true));
    work.then(settled, settled);
  });
}
