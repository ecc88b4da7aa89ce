// Owns what the context object inside asks of the source, operation by operation, and which ranges a model has seen of it: texts that code got are
// remembered; a range counts as shown when such a text stands whole in what was printed or sent, or its beginning where the output was cut.
// Invariant: arguments come from inside, nothing is believed; never claims more than was shown.
import type { JsonValue } from '#base/json.ts';
import { wellFormed } from '#base/text.ts';
import { bytesOfUnits, decodeUtf8, type PartedSource } from './parted-source.ts';

const SLICE_BYTES = 4_000_000;

/** Gives a value to be told as JSON. */
export type Operation = (args: readonly JsonValue[]) => unknown;

export function contextOps(source: PartedSource, taken: TakenTexts | undefined): Readonly<Record<string, Operation>> {
  const give = ({ start_byte, end_byte, text }: { start_byte: number; end_byte: number; text: string }): string => {
    taken?.take(text, start_byte, end_byte);
    return text;
  };
  const offsets = new PageOffsets(source);
  const giveHit = (hit: Hit): Hit => {
    taken?.take(hit.text, hit.start, hit.end);
    return hit;
  };
  return {
    slice: ([start, end]) =>
      give(source.slice(number(start), bounded(number(start), Math.min(number(end), source.byte_count)))),
    lines: ([first, last]) => {
      const { start_byte, end_byte } = lineRange(source, number(first), number(last));
      return give(source.slice(start_byte, bounded(start_byte, end_byte)));
    },
    lineRange: ([first, last]) => {
      const { start_byte: start, end_byte: end } = lineRange(source, number(first), number(last));
      return { start, end, startLine: number(first), endLine: Math.min(number(last), source.line_count) };
    },
    lineAt: ([byte]) => source.lineAt(number(byte)),
    find: ([text, from]) => source.find(string(text), number(from)),
    searchText: ([text, from, max]) => {
      const found = searchText(source, string(text), number(from), number(max));
      return { hits: found.hits.map(giveHit), more: found.more };
    },
    page: ([from, prefix]) => pageAt(source, number(from), prefix === null ? null : string(prefix)),
    match: ([start, end, from, to]) => giveHit(offsets.hit([number(start), number(end), number(from), number(to)])),
    chunk: ([from, lines, bytes, overlap]) =>
      chunkAt(source, number(from), { lines: nullable(lines), bytes: nullable(bytes), overlap: number(overlap) }),
  };
}

/** Where the lines lie, without reading what lies between. */
function lineRange(source: PartedSource, first: number, last: number): { start_byte: number; end_byte: number } {
  const none = { start_byte: 0, end_byte: 0 };
  if (last < first || first < 1 || first > source.line_count) return none;
  const to = Math.min(last, source.line_count);
  return { start_byte: source.lineBounds(first).start_byte, end_byte: source.lineBounds(to).end_byte };
}

function bounded(start: number, end: number): number {
  if (end - start > SLICE_BYTES)
    throw new ApiFault('RangeError', `at most ${SLICE_BYTES} bytes at once: go through context.chunks instead`);
  return end;
}

export function number(value: JsonValue | undefined): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new ApiFault('TypeError', 'a whole number from 0 on is needed');
}

/** Half characters become U+FFFD. */
export function string(value: JsonValue | undefined): string {
  if (typeof value === 'string') return wellFormed(value);
  throw new ApiFault('TypeError', 'a text is needed');
}

function nullable(value: JsonValue | undefined): number | null {
  return value === null ? null : number(value);
}

const PAGE_BYTES = 262_144;
/** A line longer than a page is searched in windows that overlap by so much; no match is longer. */
const OVERLAP_BYTES = 4_096;
/** A hit shows its line, of a longer one what is around the match. */
const HIT_BYTES = 2_000;
const MOST_HITS = 10_000;
const CHUNK_BYTES = 50_000;

interface Hit {
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Byte at which the match begins. */
  readonly at: number;
  readonly match: string;
}

export interface Page {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** -1: the last. */
  readonly next: number;
  /** It consists of whole lines. */
  readonly whole: boolean;
  /** Matches that begin at this character or later are found in the next page too. */
  readonly keep: number;
}

export interface Chunk {
  readonly start: number;
  readonly end: number;
  readonly startLine: number;
  readonly endLine: number;
  readonly next: number;
}

function searchText(
  source: PartedSource,
  text: string,
  from: number,
  max: number,
): { readonly hits: readonly Hit[]; readonly more: boolean } {
  const length = Buffer.byteLength(text);
  if (length === 0) throw new ApiFault('TypeError', 'search takes some text or a RegExp');
  const hits: Hit[] = [];
  for (let at = source.find(text, from); at >= 0; at = source.find(text, at + length)) {
    if (hits.length >= Math.min(max, MOST_HITS)) return { hits, more: true };
    hits.push(hitOf(source, at, at + length));
  }
  return { hits, more: false };
}

function hitOf(source: PartedSource, at: number, end: number): Hit {
  const line = source.lineAt(at);
  const own = source.lineBounds(line);
  const last = Math.max(own.end_byte, end);
  const isShort = last - own.start_byte <= HIT_BYTES;
  const match = source.slice(at, Math.min(end, at + HIT_BYTES)).text;
  const around = isShort ? source.slice(own.start_byte, last) : aroundMatch(source, at, end, [own.start_byte, last]);
  return { line, start: around.start_byte, end: around.end_byte, text: around.text, at, match };
}

function aroundMatch(source: PartedSource, at: number, end: number, [first, last]: readonly [number, number]) {
  const half = HIT_BYTES / 2;
  return source.slice(Math.max(first, at - half), Math.min(last, Math.max(end, at) + half, at + HIT_BYTES));
}

/** Null: there is nothing at or after `from`. @param prefix every match begins with it: pages without it are passed over */
function pageAt(source: PartedSource, after: number, prefix: string | null): Page | null {
  const from = prefix === null ? after : source.find(prefix, after);
  if (from < 0) return null;
  const file = source.files.find(({ end_byte }) => end_byte > from);
  if (file === undefined) return null;
  const begin = beginOfPage(source, Math.max(from, file.start_byte));
  const limit = Math.min(file.end_byte, begin + PAGE_BYTES);
  const cut = limit === file.end_byte ? limit : startOfLineAt(source, limit);
  if (cut > begin) return pageOf(source, begin, cut, { next: cut, whole: true });
  const end = source.slice(begin, limit).end_byte;
  return pageOf(source, begin, end, { next: beginOfCharacter(source, end - OVERLAP_BYTES), whole: false });
}

/** The beginning of the line, unless that is a window back. */
function beginOfPage(source: PartedSource, from: number): number {
  const line = startOfLineAt(source, from);
  return from - line < PAGE_BYTES / 2 ? line : beginOfCharacter(source, from);
}

function beginOfCharacter(source: PartedSource, byte: number): number {
  return source.slice(byte, byte + 1).start_byte;
}

function pageOf(
  source: PartedSource,
  start: number,
  end: number,
  { next, whole }: { readonly next: number; readonly whole: boolean },
): Page {
  const text = source.slice(start, end).text;
  const keep = whole ? text.length + 1 : decodeUtf8(source.bytes(start, next)).length;
  return { start, end, text, next: next >= source.byte_count ? -1 : next, whole, keep };
}

function startOfLineAt(source: PartedSource, byte: number): number {
  return source.lineBounds(source.lineAt(byte)).start_byte;
}

/** Where characters of the text of a page lie. Matches come in order: what was counted is not counted again. */
class PageOffsets {
  readonly #source: PartedSource;
  #range: readonly [start: number, end: number] = [0, 0];
  #bytes: Uint8Array = new Uint8Array();
  #unit = 0;
  #byte = 0;

  constructor(source: PartedSource) {
    this.#source = source;
  }

  /** A match, told in characters of the text of the page that `start` and `end` name. */
  hit([start, end, from, to]: readonly [number, number, number, number]): Hit {
    if (start !== this.#range[0] || end !== this.#range[1] || from < this.#unit) this.#open(start, end);
    this.#byte += bytesOfUnits(this.#bytes.subarray(this.#byte), from - this.#unit);
    this.#unit = from;
    const length = bytesOfUnits(this.#bytes.subarray(this.#byte), to - from);
    return hitOf(this.#source, start + this.#byte, start + this.#byte + length);
  }

  #open(start: number, end: number): void {
    this.#range = [start, end];
    this.#bytes = this.#source.bytes(start, Math.min(end, start + PAGE_BYTES + OVERLAP_BYTES));
    this.#unit = 0;
    this.#byte = 0;
  }
}

export interface ChunkSize {
  readonly lines: number | null;
  readonly bytes: number | null;
  readonly overlap: number;
}

/** Null: there is nothing left. A chunk lies in one file. */
function chunkAt(source: PartedSource, from: number, { lines, bytes, overlap }: ChunkSize): Chunk | null {
  const file = source.files.find(({ end_byte }) => end_byte > from);
  if (file === undefined) return null;
  const start = Math.max(from, file.start_byte);
  if (lines !== null) return lineChunk(source, [start, file.end_byte], lines, overlap);
  return byteChunk(source, [start, file.end_byte], bytes ?? CHUNK_BYTES, overlap);
}

type Stretch = readonly [start: number, end: number];

function lineChunk(source: PartedSource, [start, last]: Stretch, lines: number, overlap: number): Chunk {
  if (lines < 1 || overlap >= lines)
    throw new ApiFault('RangeError', 'chunks have at least one line, more than overlap');
  const first = source.lineAt(start);
  const end = Math.min(last, beginOf(source, first + lines));
  return chunkOf(source, start, end, end === last ? end : beginOf(source, first + lines - overlap));
}

/** Ends where a line does, when one ends in it. */
function byteChunk(source: PartedSource, [start, last]: Stretch, size: number, overlap: number): Chunk {
  if (size < 16 || overlap >= size)
    throw new ApiFault('RangeError', 'chunks have at least 16 bytes, more than overlap');
  if (start + size >= last) return chunkOf(source, start, last, last);
  const line = startOfLineAt(source, start + size);
  const end = line > start ? line : source.slice(start, start + size).end_byte;
  const back = beginOfCharacter(source, end - overlap);
  return chunkOf(source, start, end, back > start ? back : end);
}

function beginOf(source: PartedSource, line: number): number {
  return line > source.line_count ? source.byte_count : source.lineBounds(line).start_byte;
}

function chunkOf(source: PartedSource, start: number, end: number, next: number): Chunk {
  const startLine = source.lineAt(start);
  return { start, end, startLine, endLine: source.lineAt(end - 1), next: next >= source.byte_count ? -1 : next };
}

export type FaultName = 'TypeError' | 'RangeError' | 'Error' | 'SubCallLimit';

export class ApiFault extends Error {
  override readonly name: FaultName;

  constructor(name: FaultName, message: string) {
    super(message);
    this.name = name;
  }
}

const SHORTEST = 12;
const MOST_TEXTS = 2_000;
const MOST_CHARACTERS = 8_000_000;

export type ByteRange = readonly [start: number, end: number];

export class TakenTexts {
  readonly #texts = new Map<string, ByteRange>();
  #shown: ByteRange[] = [];
  #characters = 0;

  take(text: string, start: number, end: number): void {
    if (text.length < SHORTEST) return;
    if (this.#texts.delete(text)) this.#characters -= text.length;
    this.#texts.set(text, [start, end]);
    this.#characters += text.length;
    for (const [oldest] of this.#texts) {
      if (this.#texts.size <= MOST_TEXTS && this.#characters <= MOST_CHARACTERS) break;
      this.#texts.delete(oldest);
      this.#characters -= oldest.length;
    }
  }

  /** Of a text that was cut only what stands there whole counts. */
  show(text: string): void {
    if (text.length < SHORTEST) return;
    const exact = this.#texts.get(text);
    const found = [...this.#texts].flatMap(([taken, range]) => (text.includes(taken) ? [range] : []));
    this.#shown.push(...(exact === undefined ? found : [exact]));
  }

  showRange(start: number, end: number): void {
    this.#shown.push([start, end]);
  }

  /** What was shown since the last time, merged. */
  drain(): readonly ByteRange[] {
    const shown = mergeRanges(this.#shown);
    this.#shown = [];
    return shown;
  }
}

export function mergeRanges(ranges: readonly ByteRange[]): readonly ByteRange[] {
  const merged: [number, number][] = [];
  for (const [start, end] of [...ranges].sort((left, right) => left[0] - right[0] || left[1] - right[1])) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else if (end > start) merged.push([start, end]);
  }
  return merged;
}
