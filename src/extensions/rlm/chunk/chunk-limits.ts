// Owns how large a chunk may be and how far it reaches back into the one before (notes 13.1). Limits that cannot be kept are refused.
import { ok, type Result, refuse } from '#base/result.ts';
import type { Structure } from './structure.ts';

export interface ChunkLimits {
  readonly structure: Structure;
  /** Lines of a chunk at most, overlap included. */
  readonly line_limit: number;
  /** Bytes of a chunk at most, overlap included; a longer line is parted. */
  readonly byte_limit: number;
  /** Lines repeated from before the chunk, at most; together they take a quarter of the bytes at most. */
  readonly overlap_lines: number;
}

const DEFAULT_LIMITS: ChunkLimits = { structure: 'lines', line_limit: 80, byte_limit: 65_536, overlap_lines: 0 };

/** Four bytes hold any character of UTF-8. */
const LEAST_BYTES = 4;

export function chunkLimits(asked: Partial<ChunkLimits>): Result<ChunkLimits, 'chunk-limit-invalid'> {
  const limits = { ...DEFAULT_LIMITS, ...asked };
  if (!isWhole(limits.line_limit, 1)) return refuse('chunk-limit-invalid', 'line_limit is a whole number above 0');
  if (!isWhole(limits.byte_limit, LEAST_BYTES))
    return refuse('chunk-limit-invalid', 'byte_limit is a whole number, 4 or more');
  if (!isWhole(limits.overlap_lines, 0) || limits.overlap_lines >= limits.line_limit) {
    return refuse('chunk-limit-invalid', 'overlap_lines is a whole number below line_limit');
  }
  return ok(limits);
}

function isWhole(value: number, least: number): boolean {
  return Number.isSafeInteger(value) && value >= least;
}
