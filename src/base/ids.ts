// Owns identifiers and hashes. Invariant: ids sort by creation time within a second, and no two calls give the same id.
import { createHash, randomBytes } from 'node:crypto';
import { type Clock, localDate } from './clock.ts';

/** `YYYYMMDD_HHMMSS_<6 hex>` in local time: the session id form that existing users know (core notes 2.4). */
export function newSessionId(clock: Clock): string {
  const at = localDate(clock.now());
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${at.year}${two(at.month)}${two(at.day)}`;
  return `${day}_${two(at.hour)}${two(at.minute)}${two(at.second)}_${randomHex(3)}`;
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
