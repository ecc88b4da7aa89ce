// Owns the four modes of operational memory; off unless one is chosen (notes 5).
import { ok, type Result, refuse } from '#base/result.ts';

export const MEMORY_MODES = ['off', 'read', 'write', 'read-write'] as const;
export type MemoryModeName = (typeof MEMORY_MODES)[number];

export interface MemoryMode {
  readonly mode: MemoryModeName;
  readonly reads: boolean;
  readonly writes: boolean;
}

export function memoryMode(name?: string | null): Result<MemoryMode, 'memory-mode-unknown'> {
  const mode = MEMORY_MODES.find((known) => known === (name ?? 'off'));
  if (mode === undefined) return refuse('memory-mode-unknown', `the memory mode is one of ${MEMORY_MODES.join(', ')}`);
  return ok({
    mode,
    reads: mode === 'read' || mode === 'read-write',
    writes: mode === 'write' || mode === 'read-write',
  });
}
