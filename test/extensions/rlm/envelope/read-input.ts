/** What an inner call is given, `rlm.hermes.input.v1` (notes 15.1), as a schema; and what no shape can say: depths agree, ids are single, children in order. */
import { z } from 'zod';
import { CALL_MODES, INPUT_VERSION, REQUIRED_OUTPUT_FIELDS } from '#extensions/rlm/scaffold/envelope.ts';

/** Where it is wrong: paths. */
export function inputFaults(value: unknown): readonly string[] {
  const read = hermesInput.safeParse(value);
  if (read.success) return disagreements(read.data);
  return read.error.issues.map(({ path, ...issue }) => [...path, ...('keys' in issue ? issue.keys : [])].join('.'));
}

function disagreements({
  call_context,
  rlm_node,
  ac_node,
  trace,
  constraints,
  context,
}: HermesInput): readonly string[] {
  const chunks = context.chunks.map(({ chunk_id }) => chunk_id);
  const orders = context.child_results.map(({ order }) => order);
  const faults: readonly (readonly [boolean, string])[] = [
    [rlm_node.depth !== call_context.depth, 'rlm_node.depth'],
    [trace.depth !== call_context.depth, 'trace.depth'],
    [trace.call_id !== call_context.call_id, 'trace.call_id'],
    [ac_node.depth > constraints.max_ac_depth, 'ac_node.depth'],
    [new Set(chunks).size < chunks.length, 'context.chunks'],
    [context.chunks.some(({ start_line, end_line }) => end_line < start_line), 'context.chunks.end_line'],
    [orders.some((order, at) => at > 0 && order <= (orders[at - 1] ?? 0)), 'context.child_results'],
  ];
  return faults.flatMap(([isWrong, path]) => (isWrong ? [path] : []));
}

const text = z.string();
const idOrNull = z.string().nullable();
const ids = z.array(z.string());
const count = z.int().min(0);
const line = z.int().min(1);

const callContext = { call_id: text.min(1), parent_call_id: idOrNull, depth: count };
const node = { id: text.min(1), parent_id: idOrNull, depth: count };

const parentExecutionContext = {
  schema_version: z.literal('rlm.parent_execution_context.v1'),
  generation_id: text,
  mode: z.enum(CALL_MODES),
  parent_node_id: idOrNull,
  parent_ac_node_id: idOrNull,
  parent_call_id: idOrNull,
  parent_trace_id: idOrNull,
  current_node_id: text,
  current_ac_node_id: text,
  current_call_id: text,
  current_trace_id: text,
  current_depth: count,
  child_order: count.nullable(),
  sibling_count: count,
  prior_sibling_result_count: count,
  completed_sibling_count: count,
  failed_sibling_count: count,
  recorded_child_result_ids: ids,
  recorded_child_node_ids: ids,
  recorded_child_ac_node_ids: ids,
  recorded_child_call_ids: ids,
  recorded_child_chunk_ids: ids,
  synthesized_summary_present: z.boolean(),
};

const chunk = {
  chunk_id: text.min(1),
  source_path: idOrNull,
  start_line: line,
  end_line: line,
  content: text,
  token_estimate: count,
  truncated: z.boolean(),
};

const childResult = {
  order: count,
  child_node_id: text,
  child_ac_node_id: text,
  call_id: text,
  chunk_id: idOrNull,
  completion_status: text,
  status_metadata: z.strictObject({
    mode: z.enum(CALL_MODES),
    generation_id: text,
    parent_call_id: idOrNull,
    depth: count,
    exit_code: z.int().nullable(),
    resume_handle_present: z.boolean(),
  }),
  question_payload: z.unknown(),
  result_payload: z.strictObject({
    exit_code: z.int().nullable(),
    completion: z.string().nullable(),
    reported_result: z.unknown(),
    verdict: idOrNull,
    confidence: z.number().nullable(),
    evidence_references: z.array(z.unknown()),
    residual_gaps: z.array(z.unknown()),
  }),
};

const tokenBudget = z.strictObject({ max_input_tokens: count, max_output_tokens: count });

const strictGroups = {
  parent_execution_context: z.strictObject(parentExecutionContext).nullable(),
  outer_scaffold: z.looseObject({ schema_version: z.literal('rlm.outer_scaffold.v1') }).nullable(),
  run: z.strictObject({
    rlm_run_id: text.min(1),
    seed_id: idOrNull,
    working_directory: text,
    ambiguity_score: z.number().min(0).max(1),
    ambiguity_threshold: z.number().min(0).max(0.2),
  }),
  ac_node: z.strictObject({ ...node, max_depth: count, title: text, statement: text, status: text }),
  constraints: z.strictObject({
    max_ac_depth: count,
    must_not_call_ouroboros: z.boolean(),
    must_use_supplied_context_only: z.boolean(),
    target_kind: text,
    token_budget: tokenBudget,
  }),
  trace: z.strictObject({
    event_store_session_id: idOrNull,
    call_id: text.min(1),
    parent_call_id: idOrNull,
    causal_parent_event_id: idOrNull,
    depth: count,
    selected_chunk_ids: ids,
    resume_handle_id: idOrNull,
  }),
};

const childQuestion = { question: text, result: z.unknown(), status: text, ordering: count };

export const hermesInput = z.strictObject({
  schema_version: z.literal(INPUT_VERSION),
  mode: z.enum(CALL_MODES),
  call_context: z.strictObject(callContext),
  ...strictGroups,
  rlm_node: z.strictObject({ ...node, ancestry: ids }),
  objective: z.strictObject({
    instruction: text.min(1),
    success_criteria: ids,
    non_goals: ids,
    initial_prompt: text.optional(),
  }),
  context: z.strictObject({
    prompt_summary: idOrNull,
    parent_result: z.unknown(),
    parent_node_summary: z.looseObject({ schema_version: z.literal('rlm.parent_node_summary.v1') }).nullable(),
    synthesized_subcall_summary: z
      .looseObject({ schema_version: z.literal('rlm.synthesized_subcall_summary.v1') })
      .nullable(),
    chunks: z.array(z.strictObject(chunk)),
    summaries: z.array(z.looseObject({ summary_id: text })),
    child_results: z.array(z.strictObject(childResult)),
    normalized_child_ac_inputs: z.array(z.strictObject(childQuestion)),
    benchmark_fixture: z.unknown(),
    fixture_id: idOrNull,
  }),
  output_contract: z.strictObject({
    format: z.literal('json'),
    required_fields: z.array(z.enum(REQUIRED_OUTPUT_FIELDS)).length(6),
  }),
});
export type HermesInput = z.infer<typeof hermesInput>;
