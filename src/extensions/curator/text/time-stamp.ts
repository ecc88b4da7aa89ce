// Owns the two written forms of an instant: in texts (ISO, UTC, whole seconds, `+00:00`) and in file names. Pure; reads no clock.
import { isoTime, parseTime } from '#base/clock.ts';

export interface TimeStamp {
  readonly iso: string;
  /** `YYYYMMDD-HHMMSS`. */
  readonly file: string;
}

/** An instant as callers have it: epoch milliseconds, epoch seconds (below 10^11), or ISO text; without an offset it is UTC. */
export type Instant = number | string;

const NO_OFFSET = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/;
const LONGEST_MS = 8.64e15;

/** @throws TypeError for what is no instant. */
export function timeStamp(now: Instant): TimeStamp {
  const seconds = isoTime(epochOf(now)).replace(/\.\d+Z$/, '');
  return { iso: `${seconds}+00:00`, file: seconds.replace(/[-:]/g, '').replace('T', '-') };
}

/** Epoch milliseconds. */
export function epochOf(now: Instant): number {
  const value = typeof now === 'number' ? now * (Math.abs(now) < 1e11 ? 1000 : 1) : readTime(now);
  if (value === undefined || !(Math.abs(value) <= LONGEST_MS)) throw new TypeError(`not an instant: ${String(now)}`);
  return value;
}

function readTime(text: string): number | undefined {
  const plain = text.trim().replace(/(\.\d{3})\d+/, '$1');
  return parseTime(NO_OFFSET.test(plain) ? `${plain.replace(' ', 'T')}Z` : plain);
}
