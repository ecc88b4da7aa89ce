/**
 * Owns taking one source apart: bytes in, spans out (notes 6.1, 13.5). It copies no text and knows no budget of chunks.
 * Invariant: the cores of the spans are the source, in order, without gap or repetition; no span is longer than the limits;
 * cuts fall on line ends, inside a line only when it alone exceeds the bytes, and then between characters. Linear in the source.
 * Serves seed 003: long material, taken apart by bounded calls.
 */
import { type ChunkPlan, type ChunkSpan, chunkId } from './chunks.ts';
import { boundaryLevels, type LineIndex, type Structure, scanLines } from './structure.ts';

export interface ChunkLimits {
  readonly structure: Structure;
  /** Lines of a chunk at most, overlap included. */
  readonly line_limit: number;
  /** Bytes of a chunk at most, overlap included; a longer line is parted. */
  readonly byte_limit: number;
  /** Lines repeated from before the chunk, at most; together they take a quarter of the bytes at most. */
  readonly overlap_lines: number;
}

const DEFAULT_LIMITS: ChunkLimits = { structure: 'lines', line_limit: 80, byte_limit: 65_536, overlap_lines: 0 };

/** An empty source is one empty chunk, `<path>:1-1`. Whoever calls has checked the limits: whole numbers, the overlap below the lines. */
export function planChunks(path: string, bytes: Uint8Array, asked: Partial<ChunkLimits>): ChunkPlan {
  const limits = { ...DEFAULT_LIMITS, ...asked };
  const index = scanLines(bytes);
  const ground = { path, bytes, index, limits, levels: boundaryLevels(bytes, index, limits.structure) };
  const spans = index.count === 0 ? [spanOf(ground, [1, 1, null], [0, 0, 0])] : [...spansOf(ground)];
  return { source_path: path, line_count: index.count, byte_count: bytes.length, spans };
}

/** Four bytes hold any character of UTF-8. */
const LEAST_BYTES = 4;

interface Ground {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly index: LineIndex;
  readonly limits: ChunkLimits;
  readonly levels: Uint8Array | null;
}

function* spansOf(ground: Ground): Generator<ChunkSpan> {
  const { index, limits } = ground;
  for (let first = 0; first < index.count; ) {
    const begin = byteAt(index, first);
    const own = overlapStart(ground, first);
    const from = fits(ground, own, first) ? own : first;
    let end = first;
    while (end < index.count && end - from < limits.line_limit && fits(ground, from, end)) end += 1;
    if (end === first) {
      yield* partsOf(ground, first);
      first += 1;
    } else {
      if (end < index.count) end = bestCut(ground.levels, first, end);
      yield spanOf(ground, [from + 1, end, null], [byteAt(index, from), begin, byteAt(index, end)]);
      first = end;
    }
  }
}

/** Do the lines from one to the other stay within the bytes? */
function fits({ index, limits }: Ground, from: number, last: number): boolean {
  return byteAt(index, last + 1) - byteAt(index, from) <= limits.byte_limit;
}

function overlapStart({ index, limits }: Ground, first: number): number {
  const room = Math.floor(limits.byte_limit / 4);
  const least = Math.max(0, first - limits.overlap_lines);
  let from = first;
  while (from > least && byteAt(index, first) - byteAt(index, from - 1) <= room) from -= 1;
  return from;
}

/** The last section to end before, else the last block, else the limit. What is passed over is passed over once: the next cut lies behind it. */
function bestCut(levels: Uint8Array | null, first: number, end: number): number {
  if (levels === null) return end;
  for (const least of [2, 1]) for (let at = end; at > first; at -= 1) if ((levels[at] ?? 0) >= least) return at;
  return end;
}

/** Of one line that alone exceeds the bytes. */
function* partsOf(ground: Ground, line: number): Generator<ChunkSpan> {
  const { index, limits, bytes } = ground;
  const last = byteAt(index, line + 1);
  let start = byteAt(index, line);
  for (let part = 1; start < last; part += 1) {
    const whole = Math.min(last, start + limits.byte_limit);
    const end = whole === last ? last : cutBefore(bytes, whole, start);
    yield spanOf(ground, [line + 1, line + 1, part], [start, start, end]);
    start = end;
  }
}

/** Not between CR and LF, and where a character begins; `at` itself when the bytes there are no UTF-8. */
function cutBefore(bytes: Uint8Array, at: number, least: number): number {
  if (bytes[at] === 10 && bytes[at - 1] === 13) return at - 1 > least ? at - 1 : at;
  for (let place = at; place > Math.max(least, at - LEAST_BYTES); place -= 1)
    if (((bytes[place] ?? 0) & 0xc0) !== 0x80) return place;
  return at;
}

function spanOf(
  { path, bytes }: Ground,
  [start_line, end_line, part]: readonly [first: number, last: number, part: number | null],
  [start_byte, core_start_byte, end_byte]: readonly [start: number, core: number, end: number],
): ChunkSpan {
  const chunk_id = chunkId({ path, start_line, end_line, part });
  const range = { start_byte, end_byte, core_start_byte, truncated: end_byte < bytes.length };
  return { chunk_id, source_path: path, start_line, end_line, ...range };
}

function byteAt({ starts }: LineIndex, line: number): number {
  return starts[line] ?? 0;
}
