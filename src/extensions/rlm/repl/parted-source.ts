// Owns the ContextSource over parts: files one after the other, or one text. Knows no medium, only a reader of bytes.
// Invariant: nothing is held but the index; a line never goes on into the next part; a range covers whole characters.

import { isUtf8 } from 'node:buffer';
import type { SourcePlace } from '../outcome.ts';
import type { SourceStamp } from '../trace/run-record.ts';

const LF = 10;
const CR = 13;
const FIND_BYTES = 1_048_576;
const BOM_BYTES = 3;

export interface SourcePart {
  readonly path: string;
  /** `sha256:` and hex. */
  readonly hash: string;
  readonly bytes: number;
  /** Byte offsets within the part, ascending. */
  readonly line_starts: Float64Array;
}

export interface IndexedFile extends SourcePart {
  /** Absolute. */
  readonly file: string;
  /** Milliseconds, as the file system says. */
  readonly modified: number;
}

export type SourceDescription =
  | { readonly kind: 'text'; readonly text: string; readonly path: string }
  | { readonly kind: 'files'; readonly files: readonly IndexedFile[] };

interface Part extends SourcePart, SourceFile {
  readonly at: number;
  /** Lines of the parts before it. */
  readonly lines_before: number;
}

export interface SourceFile {
  readonly path: string;
  readonly start_byte: number;
  readonly end_byte: number;
}

export interface LineRange {
  readonly start_byte: number;
  readonly end_byte: number;
  /** Bytes that are no UTF-8 show as U+FFFD. */
  readonly text: string;
}

/** Contract. Offsets are bytes of the whole, half-open; a range is moved outward to whole characters and cut at the ends of the whole. */
export interface ContextSource {
  readonly byte_count: number;
  readonly line_count: number;
  readonly files: readonly SourceFile[];
  /** Of the whole; the sources of a run row. */
  readonly stamps: readonly SourceStamp[];
  /** What the thread of the sandbox opens it from. */
  readonly description: SourceDescription;
  slice(start_byte: number, end_byte: number): LineRange;
  /** Of a line that is there, from 1, without its line end; a byte order mark is no part of it. */
  lineBounds(line: number): Pick<LineRange, 'start_byte' | 'end_byte'>;
  /** Byte offset of the first occurrence at or after `from`, -1: none. */
  find(text: string, from: number): number;
  place(start_byte: number, end_byte: number): SourcePlace;
  close(): void;
}

/** Contract: `read` gives exactly the bytes asked for, which lie inside the part, or throws; the caller does not change them. */
export interface ByteReader {
  read(part: number, start: number, end: number): Uint8Array;
  close(): void;
}

export class PartedSource implements ContextSource {
  readonly byte_count: number;
  readonly line_count: number;
  readonly files: readonly SourceFile[];
  readonly stamps: readonly SourceStamp[];
  readonly description: SourceDescription;
  readonly #parts: readonly Part[];
  readonly #reader: ByteReader;

  constructor(parts: readonly SourcePart[], reader: ByteReader, description: SourceDescription) {
    this.#parts = placed(parts);
    this.#reader = reader;
    this.description = description;
    this.byte_count = this.#parts.at(-1)?.end_byte ?? 0;
    this.line_count = parts.reduce((sum, part) => sum + part.line_starts.length, 0);
    this.files = this.#parts.map(({ path, start_byte, end_byte }) => ({ path, start_byte, end_byte }));
    this.stamps = parts.map(({ path, hash, bytes }) => ({ path, bytes, hash }));
  }

  bytes(start: number, end: number): Uint8Array {
    const pieces: Uint8Array[] = [];
    for (let part = this.#partAt(start); part !== undefined && part.start_byte < end; part = this.#parts[part.at + 1]) {
      const [from, to] = [Math.max(start, part.start_byte), Math.min(end, part.end_byte)];
      if (from < to) pieces.push(this.#reader.read(part.at, from - part.start_byte, to - part.start_byte));
    }
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  }

  slice(start_byte: number, end_byte: number): LineRange {
    const wanted = this.#clamp(start_byte);
    const [start, end] = [this.#whole(wanted)[0], this.#whole(Math.max(wanted, this.#clamp(end_byte)))[1]];
    return this.#range(start, wanted >= this.#clamp(end_byte) ? start : end);
  }

  /** Line number, from 1, of the byte. */
  lineAt(byte: number): number {
    const part = this.#partAt(byte);
    return part === undefined ? 1 : part.lines_before + lineIn(part, byte - part.start_byte);
  }

  lineBounds(line: number): Pick<LineRange, 'start_byte' | 'end_byte'> {
    const part = this.#parts.find((one) => line <= one.lines_before + one.line_starts.length);
    if (part === undefined) return { start_byte: 0, end_byte: 0 };
    const at = line - part.lines_before - 1;
    const start = at === 0 && this.#hasMark(part) ? BOM_BYTES : (part.line_starts[at] ?? 0);
    const end = this.#endOf(part, start, part.line_starts[at + 1] ?? part.bytes);
    return { start_byte: part.start_byte + start, end_byte: part.start_byte + end };
  }

  find(text: string, from: number): number {
    const needle = Buffer.from(text, 'utf8');
    const begin = this.#clamp(from);
    if (needle.length === 0) return begin;
    for (const part of this.#parts) {
      if (part.end_byte <= begin) continue;
      const found = this.#findIn(part, needle, Math.max(0, begin - part.start_byte));
      if (found >= 0) return part.start_byte + found;
    }
    return -1;
  }

  /** Of a range over several files: what lies in the first of them. Bytes and lines count from the beginning of that file. */
  place(start_byte: number, end_byte: number): SourcePlace {
    const start = this.#clamp(start_byte);
    const part = this.#partAt(start);
    if (part === undefined) return { source_path: '', start_line: 1, end_line: 1, start_byte: 0, end_byte: 0 };
    const from = start - part.start_byte;
    const to = Math.max(from, Math.min(this.#clamp(end_byte), part.end_byte) - part.start_byte);
    return {
      source_path: part.path,
      start_line: lineIn(part, from),
      end_line: lineIn(part, Math.max(from, to - 1)),
      start_byte: from,
      end_byte: to,
    };
  }

  close(): void {
    this.#reader.close();
  }

  #range(start_byte: number, end_byte: number): LineRange {
    return { start_byte, end_byte, text: decodeUtf8(this.bytes(start_byte, end_byte)) };
  }

  #clamp(byte: number): number {
    return Math.min(Math.max(0, Math.floor(byte) || 0), this.byte_count);
  }

  /** Where the character that the offset lies in begins and ends; the offset twice when it stands between two. */
  #whole(byte: number): readonly [number, number] {
    const part = this.#partAt(byte);
    if (part === undefined || byte === part.start_byte || byte >= part.end_byte) return [byte, byte];
    const from = Math.max(part.start_byte, byte - 4);
    const near = this.bytes(from, Math.min(part.end_byte, byte + 4));
    const found = characterAround(near, byte - from);
    return found === undefined ? [byte, byte] : [from + found[0], from + found[1]];
  }

  /** The part that holds the byte; past the end, the last. */
  #partAt(byte: number): Part | undefined {
    let low = 0;
    let high = this.#parts.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#parts[middle]?.end_byte ?? 0) > byte) high = middle;
      else low = middle + 1;
    }
    return this.#parts[low];
  }

  #endOf({ at }: Part, start: number, next: number): number {
    const tail = this.#reader.read(at, Math.max(start, next - 2), next);
    if (tail.at(-1) === LF) return next - (tail.at(-2) === CR ? 2 : 1);
    return tail.at(-1) === CR ? next - 1 : next;
  }

  #hasMark({ at, bytes }: Part): boolean {
    if (bytes < BOM_BYTES) return false;
    const [one, two, three] = this.#reader.read(at, 0, BOM_BYTES);
    return one === 0xef && two === 0xbb && three === 0xbf;
  }

  #findIn({ at, bytes: length }: Part, needle: Buffer, from: number): number {
    for (let start = from; start + needle.length <= length; start += FIND_BYTES) {
      const end = Math.min(length, start + FIND_BYTES + needle.length - 1);
      const bytes = this.#reader.read(at, start, end);
      const found = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(needle);
      if (found >= 0) return start + found;
    }
    return -1;
  }
}

function placed(parts: readonly SourcePart[]): readonly Part[] {
  let start_byte = 0;
  let lines_before = 0;
  return parts.map((part, at) => {
    const one = { ...part, at, start_byte, end_byte: start_byte + part.bytes, lines_before };
    start_byte = one.end_byte;
    lines_before += part.line_starts.length;
    return one;
  });
}

/** Number within the part: of the last line that begins at the byte or before. */
function lineIn({ line_starts }: SourcePart, byte: number): number {
  let low = 0;
  let high = line_starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((line_starts[middle] ?? 0) <= byte) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** A byte order mark stays; what is no UTF-8 shows as U+FFFD. */
export function decodeUtf8(bytes: Uint8Array): string {
  return DECODER.decode(bytes);
}

/** No character takes more bytes, or more a UTF-16 unit. */
const LONGEST = 4;
const MOST_A_UNIT = 3;

/** How many bytes the first `units` UTF-16 units of the decoded text take. */
export function bytesOfUnits(bytes: Uint8Array, units: number): number {
  const most = units * MOST_A_UNIT;
  const near = bytes.subarray(0, characterAround(bytes, most)?.[0] ?? most);
  if (isUtf8(near)) return Buffer.byteLength(decodeUtf8(near).slice(0, Math.max(0, units)));
  const shown = (length: number) => decodeUtf8(near.subarray(0, length)).length;
  let [low, high] = [0, near.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (shown(middle) <= units) low = middle;
    else high = middle - 1;
  }
  // Of a character of two units the first alone is asked for.
  return shown(low) < units ? Math.min(low + LONGEST, near.length) : low;
}

/** The whole character that `at` lies in the midst of, as offsets into `bytes`; undefined: `at` stands between two. */
function characterAround(bytes: Uint8Array, at: number): readonly [start: number, end: number] | undefined {
  for (let start = at - 1; start >= Math.max(0, at - LONGEST + 1); start -= 1) {
    const end = start + lengthOf(bytes[start] ?? 0);
    if (end > at && end <= bytes.length && isUtf8(bytes.subarray(start, end))) return [start, end];
  }
  return undefined;
}

/** Of a character by its first byte. */
function lengthOf(first: number): number {
  if (first >= 0xf0) return LONGEST;
  return first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
}

/** Counts lines while a part is read through: they end with LF, CR or both. */
export class LineCounter {
  #starts = new Float64Array(1_024);
  #count = 0;
  #bytes = 0;
  #last = LF;

  add(block: Uint8Array): void {
    for (let at = 0; at < block.length; at += 1) {
      const byte = block[at] ?? 0;
      if (this.#last === LF || (this.#last === CR && byte !== LF)) this.#push(this.#bytes + at);
      this.#last = byte;
    }
    this.#bytes += block.length;
  }

  lines(): Pick<SourcePart, 'bytes' | 'line_starts'> {
    return { bytes: this.#bytes, line_starts: this.#starts.slice(0, this.#count) };
  }

  #push(start: number): void {
    if (this.#count === this.#starts.length) {
      const more = new Float64Array(this.#count * 2);
      more.set(this.#starts);
      this.#starts = more;
    }
    this.#starts[this.#count] = start;
    this.#count += 1;
  }
}
