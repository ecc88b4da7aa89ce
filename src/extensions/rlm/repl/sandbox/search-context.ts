// Owns what the context object inside is answered: pages to search in, hits, chunks. Every answer is bounded, whatever was asked.
// Invariant: the text of a hit is that of its range; the chunks of a context without overlap, joined, are the context.
import type { PartedSource } from '../source/parted-source.ts';
import { bytesOfUnits, decodeUtf8 } from '../source/utf8.ts';
import { ApiFault } from './api-fault.ts';

const PAGE_BYTES = 262_144;
/** A line longer than a page is searched in windows that overlap by so much; no match is longer. */
const OVERLAP_BYTES = 4_096;
/** A hit shows its line, of a longer one what is around the match. */
const HIT_BYTES = 2_000;
const MOST_HITS = 10_000;
const CHUNK_BYTES = 50_000;

export interface Hit {
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

export function searchText(
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
export function pageAt(source: PartedSource, after: number, prefix: string | null): Page | null {
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
export class PageOffsets {
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
export function chunkAt(source: PartedSource, from: number, { lines, bytes, overlap }: ChunkSize): Chunk | null {
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
