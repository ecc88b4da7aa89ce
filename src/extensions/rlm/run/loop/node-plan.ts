// Owns what each node of a run is for, laid out before any call: leaves over chunks, groups over neighbouring nodes. Knows no reply.
// Invariant: each chunk lies under exactly one leaf of a plan; no group has more children than the fan-out unless the depth leaves no room
// for levels; equal input, equal ids. Seed 003: max depth 5; notes 13.1, 13.4.
import type { RequestChunk } from '../run-request.ts';

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
export function planNode(head: PlanHead, chunks: readonly RequestChunk[], limits: PlanLimits): LeafPlan | GroupPlan {
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
