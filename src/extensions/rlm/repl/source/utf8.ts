// Owns where characters begin and end in bytes that may or may not be UTF-8. Knows no file.
// Invariant: agrees with the decoder: each maximal part of a broken character shows as one U+FFFD.
import { isUtf8 } from 'node:buffer';

const LONGEST = 4;
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** A byte order mark stays; what is no UTF-8 shows as U+FFFD. */
export function decodeUtf8(bytes: Uint8Array): string {
  return DECODER.decode(bytes);
}

interface Step {
  readonly bytes: number;
  /** UTF-16 units that it shows as. */
  readonly units: number;
  readonly whole: boolean;
}

/** How many bytes the first `units` UTF-16 units of the decoded text take. */
export function bytesOfUnits(bytes: Uint8Array, units: number): number {
  if (units <= 0) return 0;
  // No character takes more than three bytes a unit; one that the end cuts is looked at below.
  const near = bytes.subarray(0, units * 3);
  if (isUtf8(near)) return Buffer.byteLength(decodeUtf8(near).slice(0, units));
  let at = 0;
  for (let seen = 0; at < bytes.length && seen < units; ) {
    const step = stepAt(bytes, at);
    at += step.bytes;
    seen += step.units;
  }
  return at;
}

/**
 * The whole character that `at` lies in the midst of, as offsets into `bytes`; undefined: `at` stands between two. Three bytes before and four
 * after are enough.
 */
export function characterAround(bytes: Uint8Array, at: number): readonly [start: number, end: number] | undefined {
  if (at >= bytes.length || !isContinuation(bytes[at])) return undefined;
  for (let start = at - 1; start >= Math.max(0, at - LONGEST + 1); start -= 1) {
    if (isContinuation(bytes[start])) continue;
    const step = stepAt(bytes, start);
    return step.whole && start + step.bytes > at ? [start, start + step.bytes] : undefined;
  }
  return undefined;
}

function stepAt(bytes: Uint8Array, at: number): Step {
  const first = bytes[at] ?? 0;
  const length = lengthOf(first);
  if (length === 1) return { bytes: 1, units: 1, whole: first < 0x80 };
  for (let next = 1; next < length; next += 1) {
    const byte = bytes[at + next];
    if (!isContinuation(byte) || (next === 1 && !isSecond(first, byte ?? 0)))
      return { bytes: next, units: 1, whole: false };
  }
  return { bytes: length, units: length === LONGEST ? 2 : 1, whole: true };
}

function lengthOf(first: number): number {
  if (first >= 0xf0 && first <= 0xf4) return 4;
  if (first >= 0xe0 && first <= 0xef) return 3;
  return first >= 0xc2 && first <= 0xdf ? 2 : 1;
}

/** No overlong forms, no surrogates, nothing beyond U+10FFFF. */
function isSecond(first: number, second: number): boolean {
  if (first === 0xe0) return second >= 0xa0;
  if (first === 0xed) return second < 0xa0;
  if (first === 0xf0) return second >= 0x90;
  return first !== 0xf4 || second < 0x90;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
