// Owns finding where a quotation stands in the text that a call was given. Knows no page.
// Invariant: what is marked says what is quoted, but for white space; where that cannot be shown, nothing is marked.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { SourcePlace } from '../../run/run-outcome.ts';

/** A chunk of a run, as its request names it, with the text that the trace kept. */
export interface KeptChunk {
  readonly chunk_id: string;
  readonly start_line: number;
  readonly start_byte: number;
  readonly text: string;
}

/** Offsets into the text, half-open. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The chunks of the request whose text is still there. */
export function keptChunks(request: JsonObject, textOf: (hash: string) => string | undefined): readonly KeptChunk[] {
  const { chunks } = request;
  if (!Array.isArray(chunks)) return [];
  return chunks.flatMap((chunk) => {
    if (!isJsonObject(chunk)) return [];
    const { chunk_id, start_line, start_byte, text_hash } = chunk;
    if (typeof chunk_id !== 'string' || typeof text_hash !== 'string') return [];
    const text = textOf(text_hash);
    if (text === undefined || typeof start_line !== 'number' || typeof start_byte !== 'number') return [];
    return [{ chunk_id, start_line, start_byte, text }];
  });
}

export function findQuote(chunk: KeptChunk, quote: string, place: SourcePlace | null): Range | null {
  return (place === null ? null : atBytes(chunk, quote, place)) ?? findWords(chunk.text, quote);
}

/** Bytes that are no UTF-8 have moved the text: then the bytes point elsewhere, and the words decide. */
function atBytes(chunk: KeptChunk, quote: string, place: SourcePlace): Range | null {
  const bytes = Buffer.from(chunk.text, 'utf8');
  const start = place.start_byte - chunk.start_byte;
  const end = place.end_byte - chunk.start_byte;
  if (start < 0 || end > bytes.length || start >= end) return null;
  const from = bytes.toString('utf8', 0, start).length;
  const to = from + bytes.toString('utf8', start, end).length;
  return folded(chunk.text.slice(from, to)) === folded(quote) ? { from, to } : null;
}

const LONGEST_PATTERN = 20_000;

/** The first place that says the quotation, white space aside. */
export function findWords(text: string, quote: string): Range | null {
  const words = quote.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0 || quote.length > LONGEST_PATTERN) return null;
  const found = new RegExp(words.map(literal).join('\\s+'), 'u').exec(text);
  return found ? { from: found.index, to: found.index + found[0].length } : null;
}

function literal(word: string): string {
  return word.toWellFormed().replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function folded(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
