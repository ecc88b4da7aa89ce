/**
 * Owns taking one source apart: bytes in, spans out (notes 6.1, 13.5). It copies no text and knows no budget of chunks.
 * Invariant: the cores of the spans are the source, in order, without gap or repetition; no span is longer than the limits;
 * cuts fall on line ends, inside a line only when it alone exceeds the bytes, and then between characters. Linear in the source.
 * Serves seed 003: long material, taken apart by bounded calls.
 */
import { ok, type Result } from '#base/result.ts';
import { chunkId } from './chunk-id.ts';
import { type ChunkLimits, chunkLimits } from './chunk-limits.ts';
import { type LineIndex, scanLines } from './scan-lines.ts';
import { splitLine } from './split-line.ts';
import { boundaryLevels } from './structure.ts';

/** Bytes are half-open offsets into the source, lines 1-based and inclusive; both with the overlap. */
export interface ChunkSpan {
  readonly chunk_id: string;
  readonly source_path: string;
  readonly start_line: number;
  readonly end_line: number;
  readonly start_byte: number;
  readonly end_byte: number;
  /** Where what no earlier chunk holds begins. */
  readonly core_start_byte: number;
  /** More of the source follows. */
  readonly truncated: boolean;
}

export interface ChunkPlan {
  readonly source_path: string;
  readonly line_count: number;
  readonly byte_count: number;
  readonly spans: readonly ChunkSpan[];
}

/** Below it the parts of a line do not overlap: what is new in each must hold a whole character. */
const LEAST_OVERLAPPED = 16;

interface Ground {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly index: LineIndex;
  readonly limits: ChunkLimits;
  readonly cutBefore: (first: number, end: number) => number;
}

export interface Source {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** An empty source is one empty chunk, `<path>:1-1`. */
export function planChunks(
  { path, bytes }: Source,
  asked: Partial<ChunkLimits> = {},
): Result<ChunkPlan, 'chunk-limit-invalid'> {
  const limits = chunkLimits(asked);
  if (!limits.ok) return limits;
  const index = scanLines(bytes);
  const cutBefore = cutter(boundaryLevels(bytes, index, limits.value.structure), index.count);
  const spans =
    index.count === 0 ? [emptySpan(path)] : spansOf({ path, bytes, index, limits: limits.value, cutBefore });
  return ok({ source_path: path, line_count: index.count, byte_count: bytes.length, spans });
}

function spansOf(ground: Ground): ChunkSpan[] {
  const spans: ChunkSpan[] = [];
  const { index } = ground;
  let first = 0;
  while (first < index.count) {
    if (byteAt(index, first + 1) - byteAt(index, first) > ground.limits.byte_limit) {
      addParts(spans, ground, first);
      first += 1;
    } else first = addLines(spans, ground, first);
  }
  return spans;
}

/** Adds the span that begins at line `first` and gives the line after it. */
function addLines(spans: ChunkSpan[], ground: Ground, first: number): number {
  const { index } = ground;
  let from = overlapStart(ground, first);
  let end = lastEnd(ground, from, first);
  if (end === first) {
    from = first;
    end = lastEnd(ground, from, first);
  }
  if (end < index.count) end = ground.cutBefore(first, end);
  const place = { path: ground.path, start_line: from + 1, end_line: end, part: null };
  spans.push(spanOf(ground, place, [byteAt(index, from), byteAt(index, first), byteAt(index, end)]));
  return end;
}

function overlapStart({ index, limits }: Ground, first: number): number {
  const room = Math.floor(limits.byte_limit / 4);
  const least = Math.max(0, first - limits.overlap_lines);
  let from = first;
  while (from > least && byteAt(index, first) - byteAt(index, from - 1) <= room) from -= 1;
  return from;
}

/** The line after the last that fits, `first` when none does: the search halves, since line starts ascend. */
function lastEnd({ index, limits }: Ground, from: number, first: number): number {
  let low = first;
  let high = Math.min(index.count, from + limits.line_limit);
  const most = byteAt(index, from) + limits.byte_limit;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (byteAt(index, middle) <= most) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The parts of one line that alone exceeds the bytes. */
function addParts(spans: ChunkSpan[], ground: Ground, line: number): void {
  const { index, limits } = ground;
  const range = { start: byteAt(index, line), end: byteAt(index, line + 1) };
  const overlap =
    limits.overlap_lines > 0 && limits.byte_limit >= LEAST_OVERLAPPED ? Math.floor(limits.byte_limit / 4) : 0;
  for (const [at, bounds] of splitLine(ground.bytes, range, { size: limits.byte_limit, overlap }).entries()) {
    spans.push(spanOf(ground, { path: ground.path, start_line: line + 1, end_line: line + 1, part: at + 1 }, bounds));
  }
}

function spanOf(
  ground: Ground,
  place: Parameters<typeof chunkId>[0],
  bounds: readonly [number, number, number],
): ChunkSpan {
  const [start_byte, core_start_byte, end_byte] = bounds;
  const { path, start_line, end_line } = place;
  const truncated = end_byte < ground.bytes.length;
  return {
    chunk_id: chunkId(place),
    source_path: path,
    start_line,
    end_line,
    start_byte,
    end_byte,
    core_start_byte,
    truncated,
  };
}

function emptySpan(path: string): ChunkSpan {
  const lines = { start_line: 1, end_line: 1 };
  const id = chunkId({ path, ...lines, part: null });
  return {
    chunk_id: id,
    source_path: path,
    ...lines,
    start_byte: 0,
    end_byte: 0,
    core_start_byte: 0,
    truncated: false,
  };
}

/** For the lines `first` to `end` the best line to end before: the last section, else the last block, else the limit. */
function cutter(levels: Uint8Array | null, count: number): Ground['cutBefore'] {
  if (levels === null) return (_first, end) => end;
  const sections = latest(levels, count, 2);
  const blocks = latest(levels, count, 1);
  return (first, end) => {
    for (const boundaries of [sections, blocks]) {
      const at = boundaries[end] ?? 0;
      if (at > first) return at;
    }
    return end;
  };
}

/** For each line the latest boundary at or before it. */
function latest(levels: Uint8Array, count: number, least: number): Uint32Array {
  const at = new Uint32Array(count + 1);
  for (let line = 0, last = 0; line < count; line += 1) {
    if ((levels[line] ?? 0) >= least) last = line;
    at[line] = last;
  }
  return at;
}

function byteAt(index: LineIndex, line: number): number {
  return index.starts[line] ?? 0;
}
