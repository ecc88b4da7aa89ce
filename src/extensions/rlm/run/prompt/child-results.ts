// Owns what a synthesis is shown of its children: their facts, in order, within a bound; and the list of what it was not shown.
// Invariant: no child is left out, also those that failed; facts are taken in turn, so that no child pushes out another's.
import type { HermesInput } from '../../envelope/input-schema.ts';
import type { NodePlan } from '../loop/node-plan.ts';
import type { NodeResult } from '../loop/node-result.ts';
import type { FreshFact, RunGap } from '../run-outcome.ts';

export type ChildResult = HermesInput['context']['child_results'][number];

export interface ShownChild {
  readonly plan: NodePlan;
  readonly result: NodeResult;
  readonly facts: readonly FreshFact[];
}

export interface ShownChildren {
  readonly children: readonly ShownChild[];
  readonly gaps: readonly RunGap[];
}

/** Beside its text a fact has ids and punctuation. */
const BESIDE = 120;

export function shownChildren(
  children: readonly (readonly [NodePlan, NodeResult])[],
  most_chars: number,
): ShownChildren {
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

export function childResult(
  { plan, result, facts }: ShownChild,
  {
    run_id,
    order,
    parent_call_id,
  }: { readonly run_id: string; readonly order: number; readonly parent_call_id: string },
): ChildResult {
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
