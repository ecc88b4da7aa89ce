// Owns the one lease of a home for unattended writers (design 7): due reviews, the curator, the schedule take it. A file with the
// holder's process id; a dead holder is replaced. Knows no work. Invariant: who does not get it goes away at once, nobody waits.
import type { Clock } from '#base/clock.ts';
import { errorCode } from '#base/errors.ts';
import { withFileLock } from '#base/platform.ts';
import { ok, type Result, refuse } from '#base/result.ts';

export async function withUnattendedLease<T>(
  path: string,
  work: () => Promise<T>,
  clock: Clock,
): Promise<Result<T, 'lease-held'>> {
  let begun = false;
  const held = () => {
    begun = true;
    return work();
  };
  try {
    return ok(await withFileLock(path, held, { clock, waitMs: 0 }));
  } catch (error) {
    if (begun || errorCode(error) !== 'locked') throw error;
    return refuse('lease-held', 'Another process of this home is at it.');
  }
}
