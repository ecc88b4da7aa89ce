// Owns making a run request of chunks that a bench has chosen: limits, gate, memory, families; texts come along. Pure.
// Invariant: what its question would have been asked back is recorded as overridden; a bench asks a fixed question.
import type { ChunkSpan } from '../../chunk/plan-chunks.ts';
import type { Chunk } from '../../chunk/read-chunk.ts';
import { TOKEN_BUDGET } from '../../envelope/call-mode.ts';
import { AMBIGUITY_THRESHOLD, judged, measureAmbiguity } from '../../run/prepare/ambiguity.ts';
import { type RequestChunk, RUN_REQUEST_VERSION, type RunMemory, type RunRequest } from '../../run/run-request.ts';
import { textHash } from '../../trace/text-hash.ts';
import type { TreeLimits } from '../../tree/rlm-tree.ts';

export interface BenchRequestOptions {
  /** Empty: the default family. */
  readonly families?: readonly string[];
  readonly memory?: RunMemory;
  readonly limits?: Partial<TreeLimits>;
  /** @default all chunks under one parent */
  readonly fan_out?: number;
}

export interface ChosenChunks extends Pick<RunRequest, 'question' | 'target' | 'omitted' | 'boundaries'> {
  readonly selected: readonly { readonly span: ChunkSpan; readonly chunk: Chunk }[];
  readonly options: BenchRequestOptions;
}

export interface AskedRun {
  readonly request: RunRequest;
  /** Those that the request names by hash. */
  readonly texts: readonly string[];
}

const NO_MEMORY: RunMemory = { mode: 'off', priors: [], fixture_category: null };
const FACTS_CHARS = 60_000;
const LIMITS: TreeLimits = { max_depth: 5, max_iterations: 64, max_in_flight: 1, max_retries: 1 };

export function benchRequest({ question, target, omitted, boundaries, selected, options }: ChosenChunks): AskedRun {
  const asIs = { threshold: AMBIGUITY_THRESHOLD, force: 'a bench asks a fixed question' };
  const families = options.families ?? [];
  const limits = { ...LIMITS, ...options.limits };
  const request: RunRequest = {
    schema_version: RUN_REQUEST_VERSION,
    question,
    target,
    target_kind: 'path',
    limits: { ...limits, max_iterations: Math.max(limits.max_iterations, 4 * selected.length) },
    fan_out: Math.max(2, options.fan_out ?? selected.length),
    max_output_tokens: TOKEN_BUDGET.max_output_tokens,
    facts_chars: FACTS_CHARS,
    chunks: selected.map(({ span, chunk }): RequestChunk => {
      const { token_estimate, lossy, content } = chunk;
      return { ...span, token_estimate, lossy, text_hash: textHash(content) };
    }),
    omitted,
    boundaries,
    skipped: [],
    ambiguity: judged(measureAmbiguity(question), null, asIs),
    guard_mode: 'strict',
    memory: options.memory ?? NO_MEMORY,
    families: { children: families, synthesis: families },
    decompose: false,
    budget: {},
  };
  return { request, texts: selected.map(({ chunk }) => chunk.content) };
}
