// Owns finding where a quotation stands in the text that a call was given. Knows no page.
// Invariant: what is marked says what is quoted, but for white space; where that cannot be shown, nothing is marked.

import { isJsonObject, type JsonObject } from '#base/json.ts';
import { oneLine } from '#base/text.ts';
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

/** The first place that says the quotation, white space aside. Linear, whatever the quotation holds. */
export function findWords(text: string, quote: string): Range | null {
  const words = folded(quote);
  if (words === '') return null;
  const exact = text.indexOf(quote.trim());
  if (exact >= 0) return { from: exact, to: exact + quote.trim().length };
  const at = folded(text).indexOf(words);
  return at < 0 ? null : unfolded(text, { from: at, to: at + words.length });
}

function folded(text: string): string {
  return oneLine(text);
}

/** A range of the folded text, which begins and ends with a letter of a word, as a range of the text. */
function unfolded(text: string, { from, to }: Range): Range {
  let start = 0;
  let found = { from: 0, to: 0 };
  for (const word of text.matchAll(/\S+/g)) {
    const end = start + word[0].length;
    if (start <= from && from < end) found = { ...found, from: word.index + from - start };
    if (start < to && to <= end) return { ...found, to: word.index + to - start };
    start = end + 1;
  }
  return found;
}
