// Owns what a target is (a file, a folder with its files, a text) and reading it into chunks (notes 13.5): which are read, with their texts, and
// everything that is not, by name. Invariant: links are not followed; the order is that of sorted paths, on every machine; one file is in memory at a
// time, of others only what was chosen; selected, omitted and skipped together are the whole target.
import { readFileSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { errorCode, errorText } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { findSourceFiles } from '../repl/file-source.ts';
import {
  type ChunkPlan,
  type ChunkSpan,
  chunkId,
  comparePaths,
  type DroppedChunk,
  parseChunkId,
  promptChunk,
  readChunk,
  selectChunks,
} from '../scaffold/chunks.ts';
import { type ChunkLimits, planChunks } from '../scaffold/plan-chunks.ts';
import { scanLines, structureOf } from '../scaffold/structure.ts';
import { type SourceStamp, textHash } from '../trace/run-record.ts';
import type { RequestChunk, RunRequest, SkippedFile } from './run-request.ts';

interface FoundFile {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly absolute: string;
}

interface FoundPath {
  readonly kind: 'path';
  readonly root: string;
  readonly isFolder: boolean;
  readonly files: readonly FoundFile[];
  readonly skipped: readonly SkippedFile[];
}

export type FoundTarget = FoundPath | { readonly kind: 'prompt'; readonly root: string; readonly text: string };

export type TargetRefusal =
  | 'target-blank'
  | 'target-missing'
  | 'target-empty'
  | 'target-binary'
  | 'target-unreadable'
  | 'target-too-large';

export interface TargetGround {
  readonly cwd: string;
  readonly userHome: string;
  /** Files of a folder that stay out; one that is named itself is the person's word. */
  readonly isSecret?: (absolute: string) => boolean;
}

const LONGEST_TEXT = 200_000;

export async function findTarget(typed: string, ground: TargetGround): Promise<Result<FoundTarget, TargetRefusal>> {
  if (typed.trim() === '') return refuse('target-blank', 'name a file, a folder or a text to read');
  const absolute = typedPath(typed, ground);
  const stats = statOf(absolute);
  if (typeof stats === 'string') return refuse('target-unreadable', `${typed} cannot be read (${stats})`);
  if (stats === undefined) return textTarget(typed, ground.cwd);
  const from = relative(ground.cwd, absolute);
  const isInside = !(from === '..' || from.startsWith(`..${sep}`) || isAbsolute(from));
  const root = isInside ? ground.cwd : dirname(absolute);
  if (!stats.isDirectory() && !stats.isFile())
    return refuse('target-unreadable', `${typed} is neither a file nor a folder`);
  const found = await findSourceFiles(absolute, root);
  if (!found.ok) return refuse('target-unreadable', found.detail);
  const { isSecret = () => false } = ground;
  const isFolder = stats.isDirectory();
  const files = found.value.paths.map((path) => ({ path, absolute: join(root, path) }));
  const secret = files.filter((file) => isFolder && isSecret(file.absolute));
  const skipped = [
    ...secret.map(({ path }) => ({ path, reason: 'secret' as const })),
    ...found.value.skipped.map(({ path, reason }) => {
      return { path, reason: reason === 'unreadable' ? ('unreadable' as const) : ('not_a_file' as const) };
    }),
  ].sort((one, other) => comparePaths(one.path, other.path));
  return ok({ kind: 'path', root, isFolder, files: files.filter((file) => !secret.includes(file)), skipped });
}

/** Undefined: nothing is there, or the name can be none. A text: why it cannot be told. */
function statOf(path: string): Stats | string | undefined {
  try {
    return statSync(path);
  } catch (error) {
    const isNone = /^(?:ENOENT|ENOTDIR|ENAMETOOLONG|ERR_INVALID_ARG_VALUE)$/.test(errorCode(error) ?? '');
    return isNone ? undefined : errorText(error);
  }
}

function textTarget(text: string, cwd: string): Result<FoundTarget, TargetRefusal> {
  // One word, or something that begins as paths do.
  if (!/\s/.test(text.trim()) || /^(?:~?[/\\]|\.{1,2}[/\\]|[A-Za-z]:[/\\])\S*$/.test(text.trim()))
    return refuse('target-missing', `there is no file or folder ${text}; a text to read has several words`);
  if (text.includes('\0')) return refuse('target-binary', 'a text as target has no NUL character; name a file of text');
  if (text.length > LONGEST_TEXT)
    return refuse('target-too-large', `a text as target has ${LONGEST_TEXT} characters at most; put it into a file`);
  return ok({ kind: 'prompt', root: cwd, text: text.toWellFormed() });
}

export interface PlannedTarget extends Pick<RunRequest, 'chunks' | 'omitted' | 'boundaries' | 'skipped'> {
  /** Of the chunks, in their order. */
  readonly texts: readonly string[];
  readonly sources: readonly SourceStamp[];
}

export type ChunkSizes = Pick<ChunkLimits, 'line_limit' | 'byte_limit' | 'overlap_lines'> & {
  readonly max_chunks: number;
};

export function promptTarget(text: string, byte_limit: number): Result<PlannedTarget, TargetRefusal> {
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
): Result<PlannedTarget, TargetRefusal> {
  const read = readPlans(found, sizes, signal);
  if (!read.ok) return read;
  const { plans, stamps, skipped } = read.value;
  const { selected, dropped, boundaries } = selectChunks(plans, sizes.max_chunks);
  if (selected.length === 0) return refuse('target-empty', 'the folder holds no file of text');
  const byId = new Map(read.value.kept.map((one) => [one.chunk.chunk_id, one]));
  const kept = selected.flatMap(({ chunk_id }) => byId.get(chunk_id) ?? []);
  const paths = new Set(selected.map(({ source_path }) => source_path));
  return ok({
    chunks: kept.map(({ chunk }) => chunk),
    texts: kept.map(({ text }) => text),
    omitted: foldDropped(dropped),
    boundaries,
    skipped,
    sources: stamps.filter(({ path }) => paths.has(path)),
  });
}

function readPlans(found: FoundPath, { max_chunks, ...limits }: ChunkSizes, signal: AbortSignal) {
  const plans: ChunkPlan[] = [];
  const kept: KeptChunk[] = [];
  const stamps: SourceStamp[] = [];
  const skipped = [...found.skipped];
  let room = max_chunks;
  for (const { path, absolute } of found.files) {
    signal.throwIfAborted();
    const read = readText(absolute);
    if (!read.ok && !found.isFolder) return refuse(REFUSAL[read.reason], `${path} ${read.detail}`);
    if (!read.ok) {
      skipped.push({ path, reason: read.reason });
      continue;
    }
    const bytes = read.value;
    const plan =
      room > 0 ? planChunks(path, bytes, { ...limits, structure: structureOf(path) }) : wholePlan(path, bytes);
    plans.push(plan);
    if (room > 0) stamps.push({ path, bytes: bytes.length, hash: `sha256:${sha256(bytes)}` });
    kept.push(...plan.spans.slice(0, Math.max(0, room)).map((span) => keptChunk(bytes, span)));
    room -= plan.spans.length;
  }
  return ok({ plans, kept, stamps, skipped });
}

interface KeptChunk {
  readonly chunk: RequestChunk;
  readonly text: string;
}

function keptChunk(bytes: Uint8Array, span: ChunkSpan): KeptChunk {
  const { content: text, token_estimate, lossy } = readChunk(bytes, span);
  return { text, chunk: { ...span, token_estimate, lossy, text_hash: textHash(text) } };
}

/** Of a file for which no chunk is left: it is named as one stretch. */
function wholePlan(path: string, bytes: Uint8Array): ChunkPlan {
  const line_count = scanLines(bytes).count;
  const lines = { start_line: 1, end_line: Math.max(1, line_count) };
  const range = { start_byte: 0, end_byte: bytes.length, core_start_byte: 0 };
  const chunk_id = chunkId({ path, ...lines, part: null });
  const span = { chunk_id, source_path: path, ...lines, ...range, truncated: false };
  return { source_path: path, line_count, byte_count: bytes.length, spans: [span] };
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

function readText(path: string): Result<Uint8Array, keyof typeof REFUSAL> {
  try {
    if (statSync(path).size > LARGEST) return refuse('too_large', `is larger than ${LARGEST} bytes; split it`);
    const bytes = readFileSync(path);
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

function foldDropped(dropped: readonly DroppedChunk[]): PlannedTarget['omitted'] {
  return [...Map.groupBy(dropped, ({ source_path }) => source_path).values()].flatMap((ofFile) => {
    const [first] = ofFile;
    const last = ofFile.at(-1);
    if (ofFile.length <= MOST_NAMED || first === undefined || last === undefined)
      return ofFile.map(({ chunk_id, reason }) => ({ chunk_id, reason }));
    const place = { path: first.source_path, start_line: parseChunkId(first.chunk_id)?.start_line ?? first.start_line };
    return [{ chunk_id: chunkId({ ...place, end_line: last.end_line, part: null }), reason: first.reason }];
  });
}
