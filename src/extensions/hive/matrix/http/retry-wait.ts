// Owns whether and when a request that failed is made again. Pure but for jitter.
// Invariant: what may have taken effect is made again only when it is repeatable; a wait that is asked for and short is honoured.
import { jitter } from '#base/ids.ts';
import type { PeerError } from '../../peers/peer-error.ts';

const ATTEMPTS = 3;
const FIRST_WAIT_MS = 150;
/** Longer than this nobody sits through; the caller hears how long. */
const LONGEST_WAIT_MS = 2_000;

/** Milliseconds to wait before attempt `made + 1`; undefined: give up. */
export function retryWait(error: PeerError, made: number, isRepeatable: boolean): number | undefined {
  if (made >= ATTEMPTS || !error.retryable) return undefined;
  if (error.code === 'peers-rate-limited') return askedWait(error.retryAfterMs);
  // Who waited ten seconds for nothing does not wait again.
  if (!isRepeatable || error.code === 'peers-timeout') return undefined;
  return askedWait(error.retryAfterMs) ?? Math.round(FIRST_WAIT_MS * 3 ** (made - 1) * (0.5 + jitter()));
}

function askedWait(asked: number | undefined): number | undefined {
  return asked === undefined || asked > LONGEST_WAIT_MS ? undefined : asked + Math.round(jitter() * 50);
}
