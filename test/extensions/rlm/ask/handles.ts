// Owns handles for tests of asks. Knows no test.
import type { ComputedHandle, SpanHandle } from '#extensions/rlm/outcome.ts';

export function span(id: string, quote: string, source_path = 'notes.md'): SpanHandle {
  const place = { source_path, start_line: 1, end_line: 1, start_byte: 0, end_byte: Buffer.byteLength(quote) };
  return { kind: 'span', id, place, quote };
}

export function computed(id: string, output: unknown, inputs: readonly string[] = ['context']): ComputedHandle {
  const code = '(all) => all.search("x").length';
  const hashes = { code_hash: `sha256:${id}`, output_hash: '' };
  return { kind: 'computed', id, code, inputs, output: JSON.stringify(output), ...hashes };
}
