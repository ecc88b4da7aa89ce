// Owns a sparse index of lines: how many begin before every 8 KB of bytes. Built in one pass over blocks of any size.
// Invariant: a line begins at 0 and after each LF, CRLF or lone CR that is not the last byte, as chunk/scan-lines.ts has it; the index of
// 100 MB takes some 100 KB.

export const MARK_BYTES = 8_192;
const LF = 10;
const CR = 13;

export interface LineMarks {
  readonly byte_count: number;
  readonly line_count: number;
  /** `starts[k]`: lines that begin before byte `k * MARK_BYTES`. */
  readonly starts: Float64Array;
}

export class LineCounter {
  readonly #starts: number[] = [];
  #bytes = 0;
  #lines = 0;
  #last = LF;

  add(block: Uint8Array): void {
    for (let from = 0; from < block.length; ) {
      if (this.#bytes % MARK_BYTES === 0) this.#starts.push(this.#lines);
      const room = MARK_BYTES - (this.#bytes % MARK_BYTES);
      const part = block.subarray(from, from + room);
      this.#lines += startsIn(part, this.#last);
      this.#last = part[part.length - 1] ?? LF;
      this.#bytes += part.length;
      from += part.length;
    }
  }

  marks(): LineMarks {
    return { byte_count: this.#bytes, line_count: this.#lines, starts: Float64Array.from(this.#starts) };
  }
}

/** How many lines begin in `bytes`, given the byte before them (LF at the very beginning). */
export function startsIn(bytes: Uint8Array, before: number): number {
  let count = 0;
  let last = before;
  const { length } = bytes;
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[at] as number;
    if (last === LF || (last === CR && byte !== LF)) count += 1;
    last = byte;
  }
  return count;
}

/** Offset of the `wanted`-th line (from 1) that begins in `bytes`; -1: there are fewer. */
export function nthStart(bytes: Uint8Array, before: number, wanted: number): number {
  let left = wanted;
  let last = before;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (last === LF || (last === CR && byte !== LF)) left -= 1;
    if (left === 0) return at;
    last = byte;
  }
  return -1;
}

/** The last `k` with `starts[k] < line`: the line begins in that part. */
export function markBefore(starts: Float64Array, line: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) < line) low = middle;
    else high = middle - 1;
  }
  return low;
}
