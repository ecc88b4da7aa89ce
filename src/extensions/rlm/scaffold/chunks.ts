/**
 * Owns which chunks of one or many sources fit a run's number, and the list of those that do not (notes 13.5).
 * It does not read files. Invariant: selected + dropped = every span of every source, in the order of the sorted paths;
 * nothing is left out without being named. Serves the rule "no silent drop".
 */

import { isUtf8 } from 'node:buffer';

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

export type DroppedChunk = ChunkSpan & { readonly reason: 'max_chunks' };

export interface TruncationBoundary {
  readonly source_path: string;
  readonly last_retained_line: number;
  readonly omitted_line_count: number;
}

/**
 * The first chunks that fit; after the first that does not, all are dropped, so that what was read is one stretch. A boundary for each source of
 * which something was dropped.
 */
export function selectChunks(plans: readonly ChunkPlan[], max_chunks: number) {
  const ordered = [...plans].sort((left, right) => comparePaths(left.source_path, right.source_path));
  const spans = ordered.flatMap((plan) => plan.spans);
  const selected = spans.slice(0, max_chunks);
  const dropped = spans.slice(max_chunks).map((span): DroppedChunk => ({ ...span, reason: 'max_chunks' }));
  return { selected, dropped, boundaries: boundariesOf(ordered, selected, dropped) };
}

function boundariesOf(
  plans: readonly ChunkPlan[],
  selected: readonly ChunkSpan[],
  dropped: readonly ChunkSpan[],
): TruncationBoundary[] {
  const kept = new Map(selected.map((span) => [span.source_path, span.end_line]));
  const next = new Map(dropped.toReversed().map((span) => [span.source_path, span]));
  return plans.flatMap(({ source_path, line_count }) => {
    const span = next.get(source_path);
    if (span === undefined) return [];
    // A line of which a part was dropped is not retained.
    const isParted = (parseChunkId(span.chunk_id)?.part ?? 1) > 1;
    const last = kept.has(source_path) && isParted ? span.end_line - 1 : (kept.get(source_path) ?? 0);
    return [{ source_path, last_retained_line: last, omitted_line_count: Math.max(0, line_count - last) }];
  });
}

/** Part by part and by code points, as sorted paths are. */
export function comparePaths(left: string, right: string): number {
  const [one, other] = [left.split('/'), right.split('/')];
  for (let at = 0; at < Math.min(one.length, other.length); at += 1) {
    const [a, b] = [one[at] ?? '', other[at] ?? ''];
    if (a !== b) return compareText(a, b);
  }
  return one.length - other.length;
}

function compareText(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

export interface ChunkPlace {
  readonly path: string;
  readonly start_line: number;
  readonly end_line: number;
  /** From 1; null: the lines are whole. */
  readonly part: number | null;
}

/** The handle of a target that is a text and no file. */
const PROMPT_CHUNK_ID = 'prompt:target';

export function chunkId({ path, start_line, end_line, part }: ChunkPlace): string {
  return `${path}:${start_line}-${end_line}${part === null ? '' : `#${part}`}`;
}

/** null: not the handle of lines. */
export function parseChunkId(id: string): ChunkPlace | null {
  const found = /^([\s\S]*):([1-9]\d{0,14})-([1-9]\d{0,14})(?:#([1-9]\d{0,14}))?$/.exec(id);
  if (found === null) return null;
  const [, path = '', start, end, part] = found;
  return { path, start_line: Number(start), end_line: Number(end), part: part === undefined ? null : Number(part) };
}

export interface Chunk {
  readonly chunk_id: string;
  readonly source_path: string | null;
  readonly start_line: number;
  readonly end_line: number;
  readonly content: string;
  /** Words, at least 1: the original's measure, no count of model tokens. */
  readonly token_estimate: number;
  readonly truncated: boolean;
  /** The source holds bytes here that are no text. */
  readonly lossy: boolean;
}

export function readChunk(bytes: Uint8Array, span: ChunkSpan): Chunk {
  const { chunk_id, source_path, start_line, end_line, truncated } = span;
  const part = bytes.subarray(span.start_byte, span.end_byte);
  const content = new TextDecoder('utf-8', { ignoreBOM: true }).decode(part);
  const place = { chunk_id, source_path, start_line, end_line };
  return { ...place, content, token_estimate: countWords(content), truncated, lossy: !isUtf8(part) };
}

/** A target that is a text and no file is one chunk. */
export function promptChunk(content: string): Chunk {
  const end_line = Math.max(1, content.split(/\r\n|\n|\r/).length);
  const place = { chunk_id: PROMPT_CHUNK_ID, source_path: null, start_line: 1, end_line };
  return { ...place, content, token_estimate: countWords(content), truncated: false, lossy: false };
}

function countWords(text: string): number {
  return Math.max(1, text.match(/\S+/g)?.length ?? 0);
}
