// Owns waiting for work no longer than one can afford, without touching the work. Knows nothing of it.
import type { Clock } from '#base/clock.ts';

/** True when the work has settled in time. Rejects only with the signal's reason. */
export async function settledWithin(
  work: Promise<unknown>,
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
  signal: AbortSignal,
): Promise<boolean> {
  const waking = new AbortController();
  const settled = work.then(
    () => true,
    () => true,
  );
  const late = clock.sleep(Math.max(0, ms), AbortSignal.any([signal, waking.signal])).then(() => false);
  try {
    return await Promise.race([settled, late]);
  } finally {
    waking.abort();
  }
}
