// Owns identifiers and hashes. Invariant: ids sort by creation time within a second, and no two calls give the same id.
import { createHash, randomBytes } from 'node:crypto';
import { type Clock, timeStamp } from './clock.ts';

/** `YYYYMMDD_HHMMSS_<6 hex>` in local time: the session id form that existing users know (core notes 2.4). */
export function newSessionId(clock: Clock): string {
  return `${timeStamp(clock.now()).replace('-', '_')}_${randomHex(3)}`;
}

/** `<prefix>_<16 hex>`; for calls, spans, pending items. */
export function newId(prefix: string): string {
  return `${prefix}_${randomHex(8)}`;
}

export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

/** Lower-case hex SHA-256 of UTF-8 text or bytes. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** Uniform in [0, 1): jitter only, never identity. */
export function jitter(): number {
  return Math.random();
}

/** 0 to 1, the same course for the same seed (mulberry32): for worlds and orders that must come again, never for secrets. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A copy in an order drawn from `random` (Fisher and Yates). */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const drawn = [...items];
  for (let last = drawn.length - 1; last > 0; last -= 1) {
    const at = Math.floor(random() * (last + 1));
    [drawn[last], drawn[at]] = [drawn[at] as T, drawn[last] as T];
  }
  return drawn;
}
