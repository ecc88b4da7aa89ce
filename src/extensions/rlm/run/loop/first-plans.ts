// Owns the plans that a run begins with, and those of its sub-questions. Knows no reply. Notes 13.1, 13.4 (ids), 14.

import type { SubQuestion } from '../reading/read-decomposition.ts';
import type { RunRequest } from '../run-request.ts';
import {
  type DecompositionPlan,
  type GroupPlan,
  type NodePlan,
  nodesOf,
  type PlanHead,
  planChildren,
  planNode,
} from './node-plan.ts';

const ROOT = { id: 'rlm_node_root', ac_node_id: 'rlm_ac_root', parent_id: null, depth: 0, order: 0 } as const;

/** One call over everything when there is one chunk or no depth, else a group; a question that is to be split needs a group. */
export function rootPlan(request: RunRequest): NodePlan {
  const { limits, decompose } = request;
  const chunks = affordableChunks(request);
  const head = rootHead(request);
  if (decompose && limits.max_depth > 0) {
    const { prefix: _prefix, first: _first, ...base } = head;
    return { ...base, kind: 'group', children: planChildren(head, chunks, planLimits(request)) };
  }
  const plan = planNode(head, chunks, planLimits(request));
  return plan.kind === 'leaf' ? { ...plan, call_id: 'rlm_call_atomic_root' } : plan;
}

/** The first chunks for which the granted calls are enough, their syntheses counted in; the rest would only cost them. */
function affordableChunks({ chunks, limits, fan_out, decompose, budget, question }: RunRequest) {
  const { max_calls } = budget;
  if (max_calls === undefined || decompose || limits.max_depth === 0) return chunks;
  const head = { ...ROOT, call_id: '', question, prefix: '', first: 1 };
  const calls = (count: number) =>
    nodesOf(planNode(head, chunks.slice(0, count), { max_depth: limits.max_depth, fan_out })).length;
  let [least, most] = [1, chunks.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (calls(middle) <= max_calls) least = middle;
    else most = middle - 1;
  }
  return chunks.slice(0, least);
}

export function decompositionPlan(root: GroupPlan): DecompositionPlan {
  return {
    kind: 'decomposition',
    id: 'rlm_node_decomposition',
    ac_node_id: root.ac_node_id,
    call_id: 'rlm_call_decompose_root',
    parent_id: root.id,
    depth: root.depth + 1,
    order: 0,
    question: root.question,
  };
}

/** Each sub-question over all chunks. */
export function subQuestionPlans(request: RunRequest, questions: readonly SubQuestion[]): readonly NodePlan[] {
  return questions.map(({ ac_node_id, question }, at) => {
    const name = `q${at + 1}`;
    const ids = { id: `rlm_node_${name}`, ac_node_id, call_id: `rlm_call_${name}` };
    const place = { parent_id: ROOT.id, depth: 1, order: at + 1 };
    return planNode({ ...ids, ...place, question, prefix: `${name}_`, first: 1 }, request.chunks, planLimits(request));
  });
}

function rootHead({ question }: RunRequest): PlanHead {
  return { ...ROOT, call_id: 'rlm_call_atomic_synthesis', question, prefix: '', first: 1 };
}

function planLimits({ limits, fan_out }: RunRequest) {
  return { max_depth: limits.max_depth, fan_out };
}
