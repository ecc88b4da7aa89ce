// Owns reading a target into chunks: which are read, with their texts, and everything that is not, by name (notes 13.5).
// Invariant: one file is in memory at a time, of others only what was chosen; selected, omitted and skipped together are the whole target.
import { readFileSync, statSync } from 'node:fs';
import { errorCode } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { chunkId, parseChunkId } from '../../chunk/chunk-id.ts';
import type { ChunkLimits } from '../../chunk/chunk-limits.ts';
import { type ChunkPlan, type ChunkSpan, planChunks } from '../../chunk/plan-chunks.ts';
import { promptChunk, readChunk } from '../../chunk/read-chunk.ts';
import { scanLines } from '../../chunk/scan-lines.ts';
import { type DroppedChunk, selectChunks, type TruncationBoundary } from '../../chunk/select-chunks.ts';
import { structureOf } from '../../chunk/structure.ts';
import type { SourceStamp } from '../../trace/run-row.ts';
import { textHash } from '../../trace/text-hash.ts';
import type { RequestChunk, SkippedFile } from '../run-request.ts';
import type { FoundFile, FoundPath, TargetRefusal } from './find-target.ts';

export interface PlannedTarget {
  readonly chunks: readonly RequestChunk[];
  /** Of the chunks, in their order. */
  readonly texts: readonly string[];
  readonly omitted: readonly Pick<DroppedChunk, 'chunk_id' | 'reason'>[];
  readonly boundaries: readonly TruncationBoundary[];
  readonly skipped: readonly SkippedFile[];
  readonly sources: readonly SourceStamp[];
}

export type ChunkSizes = Pick<ChunkLimits, 'line_limit' | 'byte_limit' | 'overlap_lines'> & {
  readonly max_chunks: number;
};

export type PlanRefusal = TargetRefusal | 'chunk-limit-invalid';

export function promptTarget(text: string, byte_limit: number): Result<PlannedTarget, PlanRefusal> {
  const bytes = Buffer.byteLength(text);
  if (bytes > byte_limit)
    return refuse('target-too-large', `a text as target has ${byte_limit} bytes at most; put it into a file`);
  const { content: _content, ...chunk } = promptChunk(text);
  const span = { start_byte: 0, end_byte: bytes, core_start_byte: 0 };
  const chunks = [{ ...chunk, ...span, text_hash: textHash(text) }];
  return ok({ chunks, texts: [text], omitted: [], boundaries: [], skipped: [], sources: [] });
}

export function pathTarget(
  found: FoundPath,
  sizes: ChunkSizes,
  signal: AbortSignal,
): Result<PlannedTarget, PlanRefusal> {
  const read = readPlans(found, sizes, signal);
  if (!read.ok) return read;
  const { plans, texts, stamps, skipped } = read.value;
  const chosen = selectChunks(plans, { max_chunks: sizes.max_chunks });
  if (!chosen.ok) return chosen;
  const { selected, dropped, boundaries } = chosen.value;
  if (selected.length === 0) return refuse('target-empty', 'the folder holds no file of text');
  const kept = selected.map((span) => texts.get(span.chunk_id) ?? unread(span));
  const read_paths = new Set(selected.map(({ source_path }) => source_path));
  return ok({
    chunks: kept.map(({ chunk }) => chunk),
    texts: kept.map(({ text }) => text),
    omitted: foldDropped(dropped),
    boundaries,
    skipped,
    sources: stamps.filter(({ path }) => read_paths.has(path)),
  });
}

interface ReadChunkText {
  readonly chunk: RequestChunk;
  readonly text: string;
}

interface ReadPlans {
  readonly plans: ChunkPlan[];
  readonly texts: Map<string, ReadChunkText>;
  readonly stamps: SourceStamp[];
  readonly skipped: SkippedFile[];
}

function readPlans(found: FoundPath, sizes: ChunkSizes, signal: AbortSignal): Result<ReadPlans, PlanRefusal> {
  const into: ReadPlans = { plans: [], texts: new Map(), stamps: [], skipped: [...found.skipped] };
  let spans = 0;
  for (const file of found.files) {
    signal.throwIfAborted();
    const bytes = readText(file);
    if (!bytes.ok) {
      if (!found.isFolder) return refuse(REFUSAL[bytes.reason], `${file.path} ${bytes.detail}`);
      into.skipped.push({ path: file.path, reason: bytes.reason });
      continue;
    }
    const plan = spans >= sizes.max_chunks ? ok(wholePlan(file, bytes.value)) : planFile(file, bytes.value, sizes);
    if (!plan.ok) return plan;
    into.plans.push(plan.value);
    keepTexts(into, { bytes: bytes.value, plan: plan.value, room: sizes.max_chunks - spans });
    spans += plan.value.spans.length;
  }
  return ok(into);
}

function planFile({ path }: FoundFile, bytes: Uint8Array, sizes: ChunkSizes) {
  const { max_chunks: _most, ...limits } = sizes;
  return planChunks({ path, bytes }, { ...limits, structure: structureOf(path) });
}

/** Of a file for which no chunk is left: it is named as one stretch. */
function wholePlan({ path }: FoundFile, bytes: Uint8Array): ChunkPlan {
  const line_count = scanLines(bytes).count;
  const lines = { start_line: 1, end_line: Math.max(1, line_count) };
  const id = chunkId({ path, ...lines, part: null });
  const range = { start_byte: 0, end_byte: bytes.length, core_start_byte: 0 };
  const span: ChunkSpan = { chunk_id: id, source_path: path, ...lines, ...range, truncated: false };
  return { source_path: path, line_count, byte_count: bytes.length, spans: [span] };
}

interface Keeping {
  readonly bytes: Uint8Array;
  readonly plan: ChunkPlan;
  /** Chunks that are still granted. */
  readonly room: number;
}

function keepTexts({ texts, stamps }: ReadPlans, { bytes, plan, room }: Keeping): void {
  if (room <= 0) return;
  stamps.push({ path: plan.source_path, bytes: bytes.length, hash: `sha256:${sha256(bytes)}` });
  for (const span of plan.spans.slice(0, room)) {
    const { content: text, token_estimate, lossy } = readChunk(bytes, span);
    texts.set(span.chunk_id, { text, chunk: { ...span, token_estimate, lossy, text_hash: textHash(text) } });
  }
}

function unread({ chunk_id }: ChunkSpan): never {
  throw new TypeError(`${chunk_id} was selected and not read`);
}

const REFUSAL = {
  empty: 'target-empty',
  binary: 'target-binary',
  unreadable: 'target-unreadable',
  too_large: 'target-too-large',
} as const;

const LARGEST = 512 * 1024 * 1024;
/** Where a NUL tells that bytes are no text. */
const LOOKED_AT = 65_536;

function readText({ absolute }: FoundFile): Result<Uint8Array, keyof typeof REFUSAL> {
  try {
    if (statSync(absolute).size > LARGEST) return refuse('too_large', `is larger than ${LARGEST} bytes; split it`);
    const bytes = readFileSync(absolute);
    if (bytes.length === 0) return refuse('empty', 'is empty: there is nothing to read');
    if (bytes.subarray(0, LOOKED_AT).includes(0))
      return refuse('binary', 'is no text that can be read (it holds NUL bytes); save it as UTF-8');
    return ok(bytes);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return refuse('unreadable', `cannot be read (${errorCode(error)})`);
  }
}

/** More than this of one file are named as one stretch. */
const MOST_NAMED = 20;

function foldDropped(dropped: readonly DroppedChunk[]): readonly Pick<DroppedChunk, 'chunk_id' | 'reason'>[] {
  return [...Map.groupBy(dropped, ({ source_path }) => source_path).values()].flatMap((ofFile) => {
    const [first] = ofFile;
    const last = ofFile.at(-1);
    if (ofFile.length <= MOST_NAMED || first === undefined || last === undefined)
      return ofFile.map(({ chunk_id, reason }) => ({ chunk_id, reason }));
    const place = { path: first.source_path, start_line: parseChunkId(first.chunk_id)?.start_line ?? first.start_line };
    return [{ chunk_id: chunkId({ ...place, end_line: last.end_line, part: null }), reason: first.reason }];
  });
}
