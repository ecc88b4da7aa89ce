// Owns the ContextSource seam: long material as bytes that are read where they are wanted, never whole. A file, a folder (its files one
// after the other), or what was piped in and spooled. Implemented over files (source/file-source.ts) and over a text (source/text-source.ts).
import type { SourcePlace } from '../run/run-outcome.ts';
import type { SourceStamp } from '../trace/run-row.ts';
import type { SourceDescription } from './source/source-description.ts';

export interface SourceFile {
  readonly path: string;
  readonly start_byte: number;
  readonly end_byte: number;
}

export interface LineRange {
  /** First line, from 1. */
  readonly start_line: number;
  readonly end_line: number;
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
  /** Lines from 1, inclusive. */
  lines(first: number, last: number): LineRange;
  /** Byte offset of the first occurrence at or after `from`, -1: none. */
  find(text: string, from: number): number;
  place(start_byte: number, end_byte: number): SourcePlace;
  close(): void;
}
