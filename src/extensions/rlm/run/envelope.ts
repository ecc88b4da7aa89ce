// Owns the prompt of a call of `run`: an envelope `rlm.hermes.input.v1` from the request, the node and what is known of its children. It does not ask and
// does not choose. Invariant: equal input gives equal bytes; memory enters only as its marked block in the scaffold snapshot; no child is left out, also
// those that failed, and facts are taken in turn, so that no child pushes out another's. Serves seed 003: one bounded sub-call at a time; notes 15.1.

import { traceId } from '../call/call-record.ts';
import type { MemoryTask } from '../memory/memory-record.ts';
import { priorBlock } from '../memory/priors.ts';
import type { FreshFact, RunGap } from '../outcome.ts';
import {
  type CallMode,
  childResultId,
  INPUT_VERSION,
  REQUIRED_OUTPUT_FIELDS,
  TOKEN_BUDGET,
} from '../scaffold/envelope.ts';
import type { ChunkText } from './fresh-facts.ts';
import type { NodePlan } from './plan.ts';
import { againBecause, DECOMPOSITION_PROTOCOL, LEAF_PROTOCOL, SYNTHESIS_PROTOCOL } from './run.rules.ts';
import type { NodeResult, RunState } from './run-state.ts';

interface ShownChild {
  readonly plan: NodePlan;
  readonly result: NodeResult;
  readonly facts: readonly FreshFact[];
}

/** Beside its text a fact has ids and punctuation. */
const BESIDE = 120;

/** Of a synthesis, within a bound; the gaps are what it was not shown. */
function shownChildren(
  children: readonly (readonly [NodePlan, NodeResult])[],
  most_chars: number,
): { readonly children: readonly ShownChild[]; readonly gaps: readonly RunGap[] } {
  const kept = children.map((): FreshFact[] => []);
  const longest = Math.max(0, ...children.map(([, result]) => result.facts.length));
  let chars = 0;
  for (let turn = 0; turn < longest; turn += 1) {
    for (const [at, [, { facts }]] of children.entries()) {
      const fact = facts[turn];
      if (fact === undefined || chars + fact.text.length + BESIDE > most_chars) continue;
      chars += fact.text.length + BESIDE;
      kept[at]?.push(fact);
    }
  }
  const shown = children.map(([plan, result], at) => ({ plan, result, facts: kept[at] ?? [] }));
  const gaps = shown.flatMap(({ plan, result, facts }): readonly RunGap[] => {
    const left = result.facts.length - facts.length;
    if (left === 0) return [];
    return [{ what: `${left} quotations of ${plan.id}`, why: 'they did not fit into the prompt of the synthesis' }];
  });
  return { children: shown, gaps };
}

function childResult({ plan, result, facts }: ShownChild, order: number, run_id: string, parent_call_id: string) {
  const { verdict, confidence, gaps, status, summary } = result;
  const chunk_id = plan.kind === 'leaf' && plan.chunks.length === 1 ? (plan.chunks[0]?.chunk_id ?? null) : null;
  const observed_facts = facts.map(({ fact_id, text, chunk_id: evidence_chunk_id }) => ({
    fact_id,
    text,
    evidence_chunk_id,
  }));
  return {
    order,
    child_node_id: plan.id,
    child_ac_node_id: plan.ac_node_id,
    call_id: result.call_id ?? plan.call_id,
    chunk_id,
    completion_status: STATUS[status],
    status_metadata: {
      mode: plan.kind === 'leaf' ? 'execute_atomic' : 'synthesize_parent',
      generation_id: run_id,
      parent_call_id,
      depth: plan.depth,
      exit_code: null,
      resume_handle_present: false,
    },
    question_payload: { question: plan.question },
    result_payload: {
      exit_code: null,
      completion: null,
      reported_result: { summary, observed_facts },
      verdict,
      confidence,
      evidence_references: [],
      residual_gaps: gaps
        .slice(0, MOST_GAPS)
        .map(({ what, why }) => ({ gap: what, impact: why, suggested_next_step: '' })),
    },
  };
}

const MOST_GAPS = 5;

const STATUS = { done: 'completed', failed: 'failed', unasked: 'not_asked', empty: 'completed' } as const;

interface EnvelopeParts {
  readonly plan: NodePlan;
  readonly call_id: string;
  readonly chunks: readonly ChunkText[];
  /** How the chunks begin, for a decomposition. */
  readonly beginnings: readonly { readonly summary_id: string; readonly text: string }[];
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

/** Notes what the synthesis was not shown. */
export function buildEnvelope(state: RunState, { plan, call_id, chunks, beginnings }: EnvelopeParts) {
  const { request, trace } = state;
  const { run_id } = trace;
  const { limits, ambiguity } = request;
  const parent = state.parentOf(plan);
  const parent_call_id = parent?.call_id ?? null;
  const results = plan.kind === 'group' ? state.childrenOf(plan).map((one) => [one, state.resultOf(one)] as const) : [];
  const { children, gaps } = shownChildren(results, request.facts_chars);
  if (plan.kind === 'group') state.shownGaps.set(plan.id, gaps);
  const problems = state.problems.get(plan.id) ?? [];
  const again = problems.length === 0 ? '' : `${againBecause(problems)}\n`;
  return {
    schema_version: INPUT_VERSION,
    mode: modeOf(plan),
    call_context: { call_id, parent_call_id, depth: plan.depth },
    parent_execution_context: parent === undefined ? null : parentContext(state, plan, call_id, children),
    outer_scaffold: {
      schema_version: 'rlm.outer_scaffold.v1',
      target: request.target,
      chunk_count: request.chunks.length,
      omitted_count: request.omitted.length,
      ...priorBlock(request.memory.priors.filter(({ task }) => task === taskOf(plan))),
    },
    run: {
      rlm_run_id: run_id,
      seed_id: null,
      working_directory: '',
      ambiguity_score: ambiguity.ambiguity_score,
      ambiguity_threshold: ambiguity.ambiguity_threshold,
    },
    rlm_node: { id: plan.id, parent_id: plan.parent_id, depth: plan.depth, ancestry: state.ancestryOf(plan) },
    ac_node: {
      id: plan.ac_node_id,
      parent_id: parent?.ac_node_id ?? null,
      depth: plan.depth,
      max_depth: limits.max_depth,
      title: plan.question.slice(0, 80).toWellFormed(),
      statement: plan.question,
      status: 'executing',
    },
    objective: {
      instruction: `${again}Question: ${plan.question}\n\n${PROTOCOL_OF[plan.kind]}`,
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
    context: contextOf(state, plan, children, { chunks, beginnings }),
    trace: {
      event_store_session_id: run_id,
      call_id,
      parent_call_id,
      causal_parent_event_id: state.lastOf(plan),
      depth: plan.depth,
      selected_chunk_ids: chunks.map(({ chunk_id }) => chunk_id),
      resume_handle_id: null,
    },
    output_contract: { format: 'json', required_fields: [...REQUIRED_OUTPUT_FIELDS] },
  };
}

function parentContext(state: RunState, plan: NodePlan, call_id: string, children: readonly ShownChild[]) {
  const parent = state.planOf(plan.parent_id ?? '');
  return {
    schema_version: 'rlm.parent_execution_context.v1',
    generation_id: state.trace.run_id,
    mode: modeOf(plan),
    parent_node_id: parent.id,
    parent_ac_node_id: parent.ac_node_id,
    parent_call_id: parent.call_id,
    parent_trace_id: traceId(parent.call_id),
    current_node_id: plan.id,
    current_ac_node_id: plan.ac_node_id,
    current_call_id: call_id,
    current_trace_id: traceId(call_id),
    current_depth: plan.depth,
    child_order: plan.order,
    sibling_count: Math.max(0, state.node(parent.id).children_ids.length - 1),
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

function contextOf(
  { request: { boundaries, omitted }, trace: { run_id } }: RunState,
  plan: NodePlan,
  children: readonly ShownChild[],
  { chunks, beginnings }: Pick<EnvelopeParts, 'chunks' | 'beginnings'>,
) {
  const unread = `${omitted.length} stretches of the target are not supplied to any call.`;
  return {
    prompt_summary: boundaries.length === 0 ? null : unread,
    parent_result: null,
    parent_node_summary: null,
    synthesized_subcall_summary: null,
    chunks: chunks.map(({ chunk_id, source_path, start_line, end_line, token_estimate, truncated, text }) => {
      return { chunk_id, source_path, start_line, end_line, content: text, token_estimate, truncated };
    }),
    summaries: beginnings,
    child_results: children.map((child, order) => childResult(child, order, run_id, plan.call_id)),
    normalized_child_ac_inputs: children.map(({ plan: { question }, result: { status } }, ordering) => {
      return { question, result: null, status, ordering };
    }),
    benchmark_fixture: null,
    fixture_id: null,
  };
}
