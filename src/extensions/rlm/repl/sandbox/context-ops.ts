// Owns what the context object inside asks of the source, operation by operation. Arguments come from inside: nothing is believed.
import type { JsonValue } from '#base/json.ts';
import { wellFormed } from '#base/text.ts';
import type { TakenTexts } from '../block/taken-texts.ts';
import type { PartedSource } from '../source/parted-source.ts';
import { ApiFault } from './api-fault.ts';
import { chunkAt, type Hit, PageOffsets, pageAt, searchText } from './search-context.ts';

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
