// Owns the ContextSource over parts: files one after the other, or one text. Knows no medium, only a reader of bytes.
// Invariant: nothing is held but the index; a line never goes on into the next part; a range covers whole characters.
import type { SourcePlace } from '../../run/run-outcome.ts';
import type { SourceStamp } from '../../trace/run-row.ts';
import type { ContextSource, LineRange, SourceFile } from '../context-source.ts';
import type { ByteReader } from './byte-reader.ts';
import { MARK_BYTES, markBefore, nthStart, startsIn } from './line-marks.ts';
import type { SourceDescription, SourcePart } from './source-description.ts';
import { characterAround, decodeUtf8 } from './utf8.ts';

const LF = 10;
const CR = 13;
const FIND_BYTES = 1_048_576;
const BOM_BYTES = 3;

interface Part extends SourcePart, SourceFile {
  readonly at: number;
  /** Lines of the parts before it. */
  readonly lines_before: number;
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
    this.line_count = parts.reduce((sum, part) => sum + part.marks.line_count, 0);
    this.files = this.#parts.map(({ path, start_byte, end_byte }) => ({ path, start_byte, end_byte }));
    this.stamps = parts.map(({ path, hash, marks }) => ({ path, bytes: marks.byte_count, hash }));
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

  lines(first: number, last: number): LineRange {
    const from = Math.min(Math.max(1, Math.floor(first) || 1), Math.max(1, this.line_count));
    const to = Math.min(Math.max(from, Math.floor(last) || 0), this.line_count);
    if (last < first || first > this.line_count || this.line_count === 0) return this.#range(0, 0);
    const { start_byte } = this.lineBounds(from);
    return { ...this.#range(start_byte, this.lineBounds(to).end_byte), start_line: from, end_line: to };
  }

  /** Line number, from 1, of the byte. */
  lineAt(byte: number): number {
    const part = this.#partAt(byte);
    return part === undefined ? 1 : part.lines_before + this.#lineIn(part, byte - part.start_byte);
  }

  /** Of a line that is there, without its line end; a byte order mark is no part of it. */
  lineBounds(line: number): { readonly start_byte: number; readonly end_byte: number } {
    const part = this.#parts.find((one) => line <= one.lines_before + one.marks.line_count);
    if (part === undefined) return { start_byte: 0, end_byte: 0 };
    const number = line - part.lines_before;
    const start = this.#startOf(part, number);
    const next = number < part.marks.line_count ? this.#startOf(part, number + 1) : part.marks.byte_count;
    const text = start + (number === 1 && this.#hasMark(part) ? BOM_BYTES : 0);
    return { start_byte: part.start_byte + text, end_byte: part.start_byte + this.#endOf(part, text, next) };
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
      start_line: this.#lineIn(part, from),
      end_line: this.#lineIn(part, Math.max(from, to - 1)),
      start_byte: from,
      end_byte: to,
    };
  }

  close(): void {
    this.#reader.close();
  }

  #range(start_byte: number, end_byte: number): LineRange {
    const text = decodeUtf8(this.bytes(start_byte, end_byte));
    const end_line = this.lineAt(Math.max(start_byte, end_byte - 1));
    return { start_line: this.lineAt(start_byte), end_line, start_byte, end_byte, text };
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

  /** Number within the part. */
  #lineIn({ at, marks }: Part, byte: number): number {
    const offset = Math.min(byte, Math.max(0, marks.byte_count - 1));
    const mark = Math.floor(offset / MARK_BYTES);
    const begin = mark * MARK_BYTES;
    if (marks.byte_count === 0) return 1;
    const inside = startsIn(this.#reader.read(at, begin, offset + 1), this.#before(at, begin));
    return Math.max(1, (marks.starts[mark] ?? 0) + inside);
  }

  #startOf({ at, marks }: Part, line: number): number {
    if (line <= 1) return 0;
    const mark = markBefore(marks.starts, line);
    const begin = mark * MARK_BYTES;
    const bytes = this.#reader.read(at, begin, Math.min(marks.byte_count, begin + MARK_BYTES));
    return begin + nthStart(bytes, this.#before(at, begin), line - (marks.starts[mark] ?? 0));
  }

  #endOf({ at }: Part, start: number, next: number): number {
    const tail = this.#reader.read(at, Math.max(start, next - 2), next);
    if (tail.at(-1) === LF) return next - (tail.at(-2) === CR ? 2 : 1);
    return tail.at(-1) === CR ? next - 1 : next;
  }

  #before(at: number, begin: number): number {
    return begin === 0 ? LF : (this.#reader.read(at, begin - 1, begin)[0] ?? LF);
  }

  #hasMark({ at, marks }: Part): boolean {
    if (marks.byte_count < BOM_BYTES) return false;
    const [one, two, three] = this.#reader.read(at, 0, BOM_BYTES);
    return one === 0xef && two === 0xbb && three === 0xbf;
  }

  #findIn({ at, marks }: Part, needle: Buffer, from: number): number {
    for (let start = from; start + needle.length <= marks.byte_count; start += FIND_BYTES) {
      const end = Math.min(marks.byte_count, start + FIND_BYTES + needle.length - 1);
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
    const one = { ...part, at, start_byte, end_byte: start_byte + part.marks.byte_count, lines_before };
    start_byte = one.end_byte;
    lines_before += part.marks.line_count;
    return one;
  });
}
