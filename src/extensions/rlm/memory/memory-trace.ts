// Owns the block of a run's record that says what memory did (notes 5). Shapes only; it says nothing of the answer.
import type { MemoryModeName } from './memory-mode.ts';
import type { MemoryRecord } from './memory-record.ts';
import type { RejectedLine } from './read-memory.ts';
import type { MemoryPrior } from './recall-priors.ts';

export interface MemoryTrace {
  readonly mode: MemoryModeName;
  readonly recalled_priors: readonly MemoryPrior[];
  readonly stored_observations: readonly MemoryRecord[];
  readonly rejected_memory_candidates: readonly RejectedLine[];
  readonly contamination_guard: { readonly passed: boolean; readonly rejected_count: number };
}

export interface MemoryUse {
  readonly mode: MemoryModeName;
  readonly recalled: readonly MemoryPrior[];
  readonly stored: readonly MemoryRecord[];
  readonly rejected: readonly RejectedLine[];
}

export function memoryTrace({ mode, recalled, stored, rejected }: MemoryUse): MemoryTrace {
  return {
    mode,
    recalled_priors: recalled,
    stored_observations: stored,
    rejected_memory_candidates: rejected,
    contamination_guard: { passed: rejected.length === 0, rejected_count: rejected.length },
  };
}
