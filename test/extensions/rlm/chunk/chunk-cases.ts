/** Sources and checks that the tests of chunking share. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ChunkPlan } from '#extensions/rlm/scaffold/chunks.ts';
import { type ChunkLimits, planChunks } from '#extensions/rlm/scaffold/plan-chunks.ts';
import { STRUCTURES } from '#extensions/rlm/scaffold/structure.ts';

export function planned(source: string | Uint8Array, limits: Partial<ChunkLimits> = {}): ChunkPlan {
  return planChunks('a.txt', typeof source === 'string' ? Buffer.from(source) : source, limits);
}

/** The texts of the chunks, with overlap. */
export function textsOf(source: string, limits: Partial<ChunkLimits>): readonly string[] {
  const bytes = Buffer.from(source);
  return planned(bytes, limits).spans.map((span) => bytes.subarray(span.start_byte, span.end_byte).toString());
}

export function assertWhole(
  bytes: Uint8Array,
  plan: ChunkPlan,
  limits: Pick<ChunkLimits, 'line_limit' | 'byte_limit'>,
): void {
  let at = 0;
  for (const span of plan.spans) {
    assert.equal(span.core_start_byte, at, 'no gap and no repetition between cores');
    assert.ok(span.start_byte <= span.core_start_byte && span.core_start_byte <= span.end_byte);
    assert.ok(span.end_byte - span.start_byte <= limits.byte_limit, 'no chunk over the bytes');
    assert.ok(span.end_line - span.start_line + 1 <= limits.line_limit, 'no chunk over the lines');
    assert.equal(span.truncated, span.end_byte < bytes.length);
    at = span.end_byte;
  }
  assert.equal(at, bytes.length);
  assert.equal(new Set(plan.spans.map((span) => span.chunk_id)).size, plan.spans.length, 'ids are unique');
}

const PIECES = [
  '\n',
  '\r\n',
  '\r',
  '\n\n',
  '# Head',
  '```',
  '~~~',
  'Title\n===',
  'word ',
  '  indented',
  '}',
  '"',
  ',',
  'é',
  '漢字',
  '😀',
  '\uFEFF',
  'x'.repeat(50),
];

export const anyText = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 12 })), { maxLength: 60 })
  .map((parts) => parts.join('').toWellFormed());

export const anyLimits = fc
  .record({
    structure: fc.constantFrom(...STRUCTURES),
    line_limit: fc.integer({ min: 1, max: 12 }),
    byte_limit: fc.integer({ min: 4, max: 120 }),
    overlap: fc.nat({ max: 11 }),
  })
  .map(({ structure, line_limit, byte_limit, overlap }) => ({
    structure,
    line_limit,
    byte_limit,
    overlap_lines: Math.min(overlap, line_limit - 1),
  }));
