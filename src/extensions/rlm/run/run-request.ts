// Owns what a scaffold run is asked, as plain JSON (RunRow.request): with the texts that it names by hash and the replies, everything of the
// run follows from it; no file is read again. Shapes only. Seed 003: the outer scaffold owns limits, ambiguity, scheduling.

import type { CallBudget, Calls } from '../call/calls.ts';
import type { ChunkSpan } from '../chunk/plan-chunks.ts';
import type { DroppedChunk, TruncationBoundary } from '../chunk/select-chunks.ts';
import type { GuardMode } from '../guard/parent-claim.ts';
import type { MemoryModeName } from '../memory/memory-mode.ts';
import type { MemoryPrior } from '../memory/recall-priors.ts';
import type { RunTrace } from '../trace/trace-store.ts';
import type { TreeLimits } from '../tree/rlm-tree.ts';
import type { AmbiguityVerdict } from './prepare/ambiguity.ts';

export const RUN_REQUEST_VERSION = 'talaria.rlm.run_request.v1';

/** One selected chunk. The text lies in the trace under `text_hash`. */
export interface RequestChunk extends Omit<ChunkSpan, 'source_path'> {
  /** Null: the target is a text and no file. */
  readonly source_path: string | null;
  readonly token_estimate: number;
  /** The source holds bytes here that are no text. */
  readonly lossy: boolean;
  /** `sha256:` and hex of the decoded text. */
  readonly text_hash: string;
}

/** A file that was found and not read at all. */
export interface SkippedFile {
  readonly path: string;
  readonly reason: 'binary' | 'empty' | 'unreadable' | 'too_large' | 'not_a_file' | 'secret';
}

export interface RunMemory {
  readonly mode: MemoryModeName;
  /** Recalled before the run, for the family that is asked first. */
  readonly priors: readonly MemoryPrior[];
  readonly fixture_category: string | null;
}

/** Families in the order in which they are asked; empty: the default. */
export interface FamilyOrder {
  readonly children: readonly string[];
  readonly synthesis: readonly string[];
}

export interface RunRequest {
  readonly schema_version: typeof RUN_REQUEST_VERSION;
  readonly question: string;
  readonly target: string;
  readonly target_kind: 'path' | 'prompt';
  readonly limits: TreeLimits;
  /** Children that one synthesis puts together at most, unless the depth leaves no room for levels. */
  readonly fan_out: number;
  /** Of one reply. */
  readonly max_output_tokens: number;
  /** Characters of facts in the prompt of one synthesis; what goes beyond is named as a gap. */
  readonly facts_chars: number;
  readonly chunks: readonly RequestChunk[];
  /** Everything of the target that is not read; a stretch of one file is one entry when it is long. */
  readonly omitted: readonly Pick<DroppedChunk, 'chunk_id' | 'reason'>[];
  readonly boundaries: readonly TruncationBoundary[];
  readonly skipped: readonly SkippedFile[];
  readonly ambiguity: AmbiguityVerdict;
  readonly guard_mode: GuardMode;
  readonly memory: RunMemory;
  readonly families: FamilyOrder;
  readonly decompose: boolean;
  readonly budget: CallBudget;
}

/** `executeRun(parts)`; `execute-run.ts` emits the events, finishes the trace and gives the outcome. */
export interface RunParts {
  readonly request: RunRequest;
  readonly trace: RunTrace;
  readonly calls: Calls;
  readonly signal: AbortSignal;
}
