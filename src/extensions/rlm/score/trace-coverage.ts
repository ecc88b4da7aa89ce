// Owns what the calls of a recursive run add to its score (notes 6.3): which selected chunks were read, whether the parent came last.
// Does not read a completion. Invariant: a chunk counts once, however often it was read.

export interface RunCall {
  readonly mode: string;
  readonly exit_code: number | null;
  readonly success: boolean;
  readonly chunk_id: string | null;
  /** Child results that this call was given; left out, the chunk calls before it are counted. */
  readonly recorded_child_results?: number;
}

export interface TraceCoverage {
  readonly successful: readonly string[];
  readonly missing: readonly string[];
  readonly coverage: number;
  readonly parentObserved: boolean;
  readonly trace: number;
}

export function traceCoverage(selected: readonly string[], calls: readonly RunCall[]): TraceCoverage {
  const read = new Set(
    calls.filter((call) => call.success && call.mode !== 'synthesize_parent').map((call) => call.chunk_id),
  );
  const successful = selected.filter((chunkId) => read.has(chunkId));
  const coverage = selected.length === 0 ? 1 : successful.length / selected.length;
  const parentObserved = endsWithParent(selected, calls);
  return {
    successful,
    missing: selected.filter((chunkId) => !read.has(chunkId)),
    coverage,
    parentObserved,
    trace: 0.75 * coverage + 0.25 * (parentObserved ? 1 : 0),
  };
}

function endsWithParent(selected: readonly string[], calls: readonly RunCall[]): boolean {
  const last = calls.at(-1);
  if (last === undefined || last.mode !== 'synthesize_parent' || last.exit_code !== 0) return false;
  const recorded = last.recorded_child_results ?? calls.slice(0, -1).filter((call) => call.chunk_id !== null).length;
  return recorded >= selected.length;
}
