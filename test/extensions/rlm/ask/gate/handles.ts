// Owns handles for tests of the gate. Knows no test.
import type { ChildHandle, ComputedHandle, SpanHandle } from '#extensions/rlm/ask/ask-outcome.ts';

export function span(id: string, quote: string, source_path = 'notes.md'): SpanHandle {
  const place = { source_path, start_line: 3, end_line: 4, start_byte: 10, end_byte: 10 + Buffer.byteLength(quote) };
  return { kind: 'span', id, place, quote };
}

export function child(id: string, text: string, over: string): ChildHandle {
  return { kind: 'child', id, call_id: `ask:sub:001:${id}`, text, over };
}

export function computed(
  id: string,
  output: unknown,
  {
    code = '(all) => all.search("x").length',
    inputs = ['context'],
  }: { code?: string; inputs?: readonly string[] } = {},
): ComputedHandle {
  return {
    kind: 'computed',
    id,
    code,
    code_hash: `sha256:${id}`,
    inputs,
    output: JSON.stringify(output),
    output_hash: '',
  };
}
