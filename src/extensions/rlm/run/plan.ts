// Owns what each node of a run is for, laid out before any call: leaves over chunks, groups over neighbouring nodes, and the same for sub-questions.
// Knows no reply. Invariant: each chunk lies under exactly one leaf of a plan; no group has more children than the fan-out unless the depth leaves no
// room for levels; equal input, equal ids. Seed 003: max depth 5; notes 13.1, 13.4, 14.

import type { SubQuestion } from '../scaffold/read-reply.ts';
import type { RequestChunk, RunRequest } from './run-request.ts';

interface PlanBase {
  readonly id: string;
  readonly ac_node_id: string;
  readonly call_id: string;
  readonly parent_id: string | null;
  readonly depth: number;
  /** Among its siblings, from 0. */
  readonly order: number;
  readonly question: string;
}

/** One call over its chunks. */
export interface LeafPlan extends PlanBase {
  readonly kind: 'leaf';
  readonly chunks: readonly RequestChunk[];
}

/** One synthesis over its children. */
export interface GroupPlan extends PlanBase {
  readonly kind: 'group';
  readonly children: readonly NodePlan[];
}

/** One call that proposes sub-questions. */
export interface DecompositionPlan extends PlanBase {
  readonly kind: 'decomposition';
}

export type NodePlan = LeafPlan | GroupPlan | DecompositionPlan;

export interface PlanLimits {
  readonly max_depth: number;
  readonly fan_out: number;
}

export type PlanHead = PlanBase & {
  /** Stands in the ids of everything below: empty for the run's own question, `q1_` for a sub-question. */
  readonly prefix: string;
  /** Of the chunks in the run, from 1. */
  readonly first: number;
};

/** A leaf over all chunks when there is one or the depth is used up, else a group. */
function planNode(head: PlanHead, chunks: readonly RequestChunk[], limits: PlanLimits): LeafPlan | GroupPlan {
  const base = baseOf(head);
  if (chunks.length <= 1 || head.depth >= limits.max_depth) return { ...base, kind: 'leaf', chunks };
  return { ...base, kind: 'group', children: planChildren(head, chunks, limits) };
}

export function planChildren(
  head: PlanHead,
  chunks: readonly RequestChunk[],
  limits: PlanLimits,
): readonly (LeafPlan | GroupPlan)[] {
  const { sizes, leaves } = partSizes(chunks.length, limits, limits.max_depth - head.depth);
  let at = 0;
  return sizes.map((size, order) => {
    const first = head.first + at;
    const part = chunks.slice(at, at + size);
    at += size;
    return planNode(childHead({ ...head, first }, order, leaves || size === 1), part, limits);
  });
}

function childHead(head: PlanHead, order: number, isLeaf: boolean): PlanHead {
  const { prefix, first, question, depth } = head;
  const number = String(first).padStart(3, '0');
  const name = isLeaf ? `${prefix}atomic_chunk_${number}` : `${prefix}group_d${depth + 1}_${number}`;
  const ids = { id: `rlm_node_${name}`, ac_node_id: `rlm_ac_${name}`, call_id: `rlm_call_${name}` };
  return { ...ids, parent_id: head.id, depth: depth + 1, order, question, prefix, first };
}

/** Neighbouring parts, as equal as can be, for the fewest levels that keep to the fan-out. */
function partSizes(count: number, { fan_out }: PlanLimits, room: number) {
  let levels = 1;
  while (levels < room && fan_out ** levels < count) levels += 1;
  const leaves = levels === 1;
  const wide = Math.max(fan_out, Math.ceil(count ** (1 / levels) - 1e-9));
  const parts = leaves ? count : Math.min(count, Math.ceil(count / wide ** (levels - 1)));
  const sizes = Array.from(
    { length: parts },
    (_, at) => Math.floor(((at + 1) * count) / parts) - Math.floor((at * count) / parts),
  );
  return { sizes, leaves };
}

function baseOf({ id, ac_node_id, call_id, parent_id, depth, order, question }: PlanHead): PlanBase {
  return { id, ac_node_id, call_id, parent_id, depth, order, question };
}

/** Leaves below it, in order. */
export function leavesOf(plan: NodePlan): readonly LeafPlan[] {
  if (plan.kind === 'leaf') return [plan];
  return plan.kind === 'group' ? plan.children.flatMap(leavesOf) : [];
}

/** The node itself and all below it. */
export function nodesOf(plan: NodePlan): readonly NodePlan[] {
  return plan.kind === 'group' ? [plan, ...plan.children.flatMap(nodesOf)] : [plan];
}

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
