/**
 * Owns which chunks of one or many sources fit a run's number, and the list of those that do not (notes 13.5).
 * It does not read files. Invariant: selected + dropped = every span of every source, in the order of the sorted paths;
 * nothing is left out without being named. Serves the rule "no silent drop".
 */
import { ok, type Result, refuse } from '#base/result.ts';
import { parseChunkId } from './chunk-id.ts';
import type { ChunkPlan, ChunkSpan } from './plan-chunks.ts';

export type DroppedChunk = ChunkSpan & { readonly reason: 'max_chunks' | 'max_bytes' };

export interface TruncationBoundary {
  readonly source_path: string;
  readonly last_retained_line: number;
  readonly omitted_line_count: number;
}

export interface SelectedChunks {
  readonly selected: readonly ChunkSpan[];
  readonly dropped: readonly DroppedChunk[];
  /** One for each source of which something was dropped. */
  readonly boundaries: readonly TruncationBoundary[];
}

export interface ChunkBudget {
  readonly max_chunks: number;
  /** Of all selected chunks together, overlap included; absent: not limited. */
  readonly max_bytes?: number;
}

/** The first chunks that fit; after the first that does not, all are dropped, so that what was read is one stretch. */
export function selectChunks(
  plans: readonly ChunkPlan[],
  budget: ChunkBudget,
): Result<SelectedChunks, 'chunk-limit-invalid'> {
  if (!(budget.max_chunks > 0)) return refuse('chunk-limit-invalid', 'max_chunks is above 0');
  const selected: ChunkSpan[] = [];
  const dropped: DroppedChunk[] = [];
  const ordered = [...plans].sort((left, right) => comparePaths(left.source_path, right.source_path));
  let bytes = 0;
  for (const span of ordered.flatMap((plan) => plan.spans)) {
    bytes += span.end_byte - span.start_byte;
    const last = dropped[dropped.length - 1];
    const reason = last?.reason ?? overBudget({ chunks: selected.length + 1, bytes }, budget);
    if (reason === null) selected.push(span);
    else dropped.push({ ...span, reason });
  }
  return ok({ selected, dropped, boundaries: boundariesOf(ordered, selected, dropped) });
}

function overBudget(
  used: { readonly chunks: number; readonly bytes: number },
  budget: ChunkBudget,
): DroppedChunk['reason'] | null {
  if (used.chunks > budget.max_chunks) return 'max_chunks';
  return used.bytes > (budget.max_bytes ?? Number.POSITIVE_INFINITY) ? 'max_bytes' : null;
}

function boundariesOf(
  plans: readonly ChunkPlan[],
  selected: readonly ChunkSpan[],
  dropped: readonly ChunkSpan[],
): TruncationBoundary[] {
  const lastKept = new Map(selected.map((span) => [span.source_path, span]));
  const firstDropped = new Map(dropped.toReversed().map((span) => [span.source_path, span]));
  return plans.flatMap(({ source_path, line_count }) => {
    const next = firstDropped.get(source_path);
    if (next === undefined) return [];
    const last = lastWholeLine(lastKept.get(source_path), next);
    return [{ source_path, last_retained_line: last, omitted_line_count: Math.max(0, line_count - last) }];
  });
}

/** A line of which a part was dropped is not retained. */
function lastWholeLine(kept: ChunkSpan | undefined, next: ChunkSpan): number {
  if (kept === undefined) return 0;
  const parted = (parseChunkId(next.chunk_id)?.part ?? 1) > 1;
  return parted ? next.end_line - 1 : kept.end_line;
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

/** Folders that are never read. */
export function isSkippedPath(path: string): boolean {
  return path.split('/').some((part) => part === '.git' || part === '__pycache__');
}
