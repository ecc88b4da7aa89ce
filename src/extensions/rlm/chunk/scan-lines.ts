// Owns where lines begin in bytes: after LF, CRLF or a lone CR. Knows no text: invalid UTF-8 has lines too.
// Invariant: linear; the starts ascend from 0, the one past the last line is the length, and a last line end opens no further line.

export interface LineIndex {
  readonly count: number;
  /** Byte offsets; `starts[count]` is the length of the source. */
  readonly starts: Float64Array;
}

const LF = 10;
const CR = 13;

export function scanLines(bytes: Uint8Array): LineIndex {
  const count = walk(bytes, null);
  const starts = new Float64Array(count + 1);
  walk(bytes, starts);
  starts[count] = bytes.length;
  return { count, starts };
}

/** Counts the lines, and notes their starts when there is a place for them. */
function walk(bytes: Uint8Array, starts: Float64Array | null): number {
  const { length } = bytes;
  let count = 0;
  let start = 0;
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[at];
    if (byte !== LF && (byte !== CR || bytes[at + 1] === LF)) continue;
    if (starts !== null) starts[count] = start;
    count += 1;
    start = at + 1;
  }
  if (start === length) return count;
  if (starts !== null) starts[count] = start;
  return count + 1;
}

/** The offset after the last byte of the line that is no line end. */
export function endOfText(bytes: Uint8Array, start: number, next: number): number {
  let end = next;
  while (end > start && (bytes[end - 1] === LF || bytes[end - 1] === CR)) end -= 1;
  return end;
}
