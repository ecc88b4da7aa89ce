/**
 * Owns the prompt of a scaffold call: an envelope `rlm.hermes.input.v1` from the request, the node and what is known of its children.
 * It does not ask and does not choose. Invariant: the envelope passes readStrictInput; equal input gives equal bytes; memory enters only as
 * its marked block in the scaffold snapshot. Serves seed 003: one bounded sub-call at a time; notes 15.1.
 */
import type { JsonValue } from '#base/json.ts';
import { traceId } from '../../call/open-record.ts';
import { childResultId } from '../../envelope/asked.ts';
import { type CallMode, REQUIRED_OUTPUT_FIELDS, TOKEN_BUDGET } from '../../envelope/call-mode.ts';
import { type HermesInput, INPUT_VERSION } from '../../envelope/input-schema.ts';
import type { MemoryTask } from '../../memory/memory-words.ts';
import { priorBlock } from '../../memory/prior-block.ts';
import type { ChunkText } from '../fresh-facts.ts';
import type { NodePlan } from '../loop/node-plan.ts';
import type { RunRequest } from '../run-request.ts';
import { childResult, type ShownChild } from './child-results.ts';
import { againBecause, DECOMPOSITION_PROTOCOL, LEAF_PROTOCOL, SYNTHESIS_PROTOCOL } from './instructions.ts';

export interface EnvelopeParts {
  readonly run_id: string;
  readonly request: RunRequest;
  readonly plan: NodePlan;
  /** Null for the root. */
  readonly parent: { readonly plan: NodePlan; readonly siblings: number } | null;
  /** From the root to the parent. */
  readonly ancestry: readonly string[];
  readonly call_id: string;
  readonly causal_parent_event_id: string | null;
  readonly chunks: readonly ChunkText[];
  readonly children: readonly ShownChild[];
  /** How the chunks begin, for a decomposition. */
  readonly beginnings: readonly { readonly summary_id: string; readonly text: string }[];
  /** Why the reply before was refused; empty at first. */
  readonly problems: readonly string[];
}

const PROTOCOL_OF: Readonly<Record<NodePlan['kind'], string>> = {
  leaf: LEAF_PROTOCOL,
  group: SYNTHESIS_PROTOCOL,
  decomposition: DECOMPOSITION_PROTOCOL,
};

const MODE_OF: Readonly<Record<NodePlan['kind'], CallMode>> = {
  leaf: 'execute_atomic',
  group: 'synthesize_parent',
  decomposition: 'decompose_ac',
};

export function modeOf(plan: NodePlan): CallMode {
  return MODE_OF[plan.kind];
}

export function taskOf(plan: NodePlan): MemoryTask {
  return plan.kind === 'group' ? 'synthesize_parent_answer_from_child_evidence' : 'extract_child_evidence';
}

export function buildEnvelope(parts: EnvelopeParts): HermesInput {
  const { run_id, request, plan, call_id, ancestry, parent } = parts;
  const { limits, ambiguity } = request;
  const parent_call_id = parent?.plan.call_id ?? null;
  const node = { parent_id: plan.parent_id, depth: plan.depth };
  return {
    schema_version: INPUT_VERSION,
    mode: modeOf(plan),
    call_context: { call_id, parent_call_id, depth: plan.depth },
    parent_execution_context: parent === null ? null : parentContext(parts, parent),
    outer_scaffold: scaffoldOf(parts),
    run: {
      rlm_run_id: run_id,
      seed_id: null,
      working_directory: '',
      ambiguity_score: ambiguity.ambiguity_score,
      ambiguity_threshold: ambiguity.ambiguity_threshold,
    },
    rlm_node: { id: plan.id, ...node, ancestry: [...ancestry] },
    ac_node: {
      id: plan.ac_node_id,
      parent_id: parent?.plan.ac_node_id ?? null,
      depth: plan.depth,
      max_depth: limits.max_depth,
      title: plan.question.slice(0, 80).toWellFormed(),
      statement: plan.question,
      status: 'executing',
    },
    objective: {
      instruction: instructionOf(parts),
      success_criteria: ['Every claim names a fact and the chunk in which it stands.'],
      non_goals: ['Facts that the supplied context does not hold.'],
      ...(plan.question === request.question ? {} : { initial_prompt: request.question }),
    },
    constraints: {
      max_ac_depth: limits.max_depth,
      must_not_call_ouroboros: true,
      must_use_supplied_context_only: true,
      target_kind: request.target_kind,
      token_budget: { ...TOKEN_BUDGET, max_output_tokens: request.max_output_tokens },
    },
    context: contextOf(parts),
    trace: {
      event_store_session_id: run_id,
      call_id,
      parent_call_id,
      causal_parent_event_id: parts.causal_parent_event_id,
      depth: plan.depth,
      selected_chunk_ids: parts.chunks.map(({ chunk_id }) => chunk_id),
      resume_handle_id: null,
    },
    output_contract: { format: 'json', required_fields: [...REQUIRED_OUTPUT_FIELDS] },
  };
}

function instructionOf({ plan, problems }: EnvelopeParts): string {
  const again = problems.length === 0 ? '' : `${againBecause(problems)}\n`;
  return `${again}Question: ${plan.question}\n\n${PROTOCOL_OF[plan.kind]}`;
}

function scaffoldOf({ request, plan }: EnvelopeParts): NonNullable<HermesInput['outer_scaffold']> {
  const priors = request.memory.priors.filter(({ task }) => task === taskOf(plan));
  return {
    schema_version: 'rlm.outer_scaffold.v1',
    target: request.target,
    chunk_count: request.chunks.length,
    omitted_count: request.omitted.length,
    ...priorBlock(priors),
  };
}

function parentContext(
  { run_id, plan, call_id, children }: EnvelopeParts,
  parent: NonNullable<EnvelopeParts['parent']>,
): NonNullable<HermesInput['parent_execution_context']> {
  return {
    schema_version: 'rlm.parent_execution_context.v1',
    generation_id: run_id,
    mode: modeOf(plan),
    parent_node_id: parent.plan.id,
    parent_ac_node_id: parent.plan.ac_node_id,
    parent_call_id: parent.plan.call_id,
    parent_trace_id: traceId(parent.plan.call_id),
    current_node_id: plan.id,
    current_ac_node_id: plan.ac_node_id,
    current_call_id: call_id,
    current_trace_id: traceId(call_id),
    current_depth: plan.depth,
    child_order: plan.order,
    sibling_count: parent.siblings,
    // Calls of a window run at once: none is told of another, so that a window of any size asks the same.
    prior_sibling_result_count: 0,
    completed_sibling_count: 0,
    failed_sibling_count: 0,
    recorded_child_result_ids: children.map((_, at) => childResultId(plan.id, at)),
    recorded_child_node_ids: children.map((child) => child.plan.id),
    recorded_child_ac_node_ids: children.map((child) => child.plan.ac_node_id),
    recorded_child_call_ids: children.map((child) => child.result.call_id ?? child.plan.call_id),
    recorded_child_chunk_ids: [...new Set(children.flatMap((child) => child.facts.map(({ chunk_id }) => chunk_id)))],
    synthesized_summary_present: false,
  };
}

function contextOf({ run_id, request, plan, chunks, children, beginnings }: EnvelopeParts): HermesInput['context'] {
  const { boundaries } = request;
  const summary =
    boundaries.length === 0 ? null : `${request.omitted.length} stretches of the target are not supplied to any call.`;
  return {
    prompt_summary: summary,
    parent_result: null,
    parent_node_summary: null,
    synthesized_subcall_summary: null,
    chunks: chunks.map(({ chunk_id, source_path, start_line, end_line, token_estimate, truncated, text }) => ({
      chunk_id,
      source_path,
      start_line,
      end_line,
      content: text,
      token_estimate,
      truncated,
    })),
    summaries: beginnings.map((one) => ({ ...one })),
    child_results: children.map((child, order) => childResult(child, { run_id, order, parent_call_id: plan.call_id })),
    normalized_child_ac_inputs: children.map(({ plan: child, result }, ordering) => ({
      question: child.question,
      result: null satisfies JsonValue,
      status: result.status,
      ordering,
    })),
    benchmark_fixture: null,
    fixture_id: null,
  };
}
