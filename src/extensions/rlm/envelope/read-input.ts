// Owns reading an input envelope, and the rules no shape can say: depths agree, ids are single, child results stand in order (notes 15.1).
// Invariant: total on any value; a refusal names every problem that was found.
import { isJsonObject } from '#base/json.ts';
import type { EnvelopeProblem } from './envelope-problem.ts';
import { problem, schemaProblems } from './envelope-problem.ts';
import { type HermesInput, type LenientInput, lenientInput, strictInput } from './input-schema.ts';

export type ReadEnvelope<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: 'contract_error'; readonly problems: readonly EnvelopeProblem[] };

export function readStrictInput(value: unknown): ReadEnvelope<HermesInput> {
  if (!isJsonObject(value)) return refused([problem('not_an_object', '', 'an envelope is one JSON object')]);
  const read = strictInput.safeParse(value);
  if (!read.success) return refused(schemaProblems(read.error, value));
  const problems = [...depthProblems(read.data), ...contextProblems(read.data)];
  return problems.length === 0 ? { ok: true, value: read.data } : refused(problems);
}

/** Fills in what is missing; child results are put in order. */
export function readLenientInput(value: unknown): ReadEnvelope<LenientInput> {
  if (!isJsonObject(value)) return refused([problem('not_an_object', '', 'an envelope is one JSON object')]);
  const read = lenientInput.safeParse(value);
  if (!read.success) return refused(schemaProblems(read.error, value));
  const child_results = [...read.data.context.child_results].sort((left, right) => left.order - right.order);
  return { ok: true, value: { ...read.data, context: { ...read.data.context, child_results } } };
}

function depthProblems(input: HermesInput): readonly EnvelopeProblem[] {
  const { depth } = input.call_context;
  const problems: EnvelopeProblem[] = [];
  if (input.rlm_node.depth !== depth)
    problems.push(problem('depth_mismatch', 'rlm_node.depth', 'the call is at another depth'));
  if (input.trace.depth !== depth)
    problems.push(problem('depth_mismatch', 'trace.depth', 'the call is at another depth'));
  if (input.trace.call_id !== input.call_context.call_id)
    problems.push(problem('node_id_mismatch', 'trace.call_id', 'the trace is of another call'));
  if (input.ac_node.depth > input.constraints.max_ac_depth)
    problems.push(problem('out_of_range', 'ac_node.depth', 'deeper than allowed'));
  return problems;
}

function contextProblems({ context }: HermesInput): readonly EnvelopeProblem[] {
  const problems: EnvelopeProblem[] = [];
  const chunks = context.chunks.map((chunk) => chunk.chunk_id);
  if (new Set(chunks).size < chunks.length)
    problems.push(problem('duplicate_id', 'context.chunks', 'a chunk stands twice'));
  for (const [at, chunk] of context.chunks.entries()) {
    if (chunk.end_line < chunk.start_line)
      problems.push(problem('out_of_range', `context.chunks.${at}.end_line`, 'ends before it begins'));
  }
  const inOrder = context.child_results.every((child, at, all) => at === 0 || child.order > (all[at - 1]?.order ?? 0));
  if (!inOrder) problems.push(problem('child_order', 'context.child_results', 'child results stand in their order'));
  return problems;
}

function refused(problems: readonly EnvelopeProblem[]) {
  return { ok: false, reason: 'contract_error', problems } as const;
}
