/**
 * Owns the shape of a run: its state, its nodes, its queue (notes 13.1, 13.3, 13.4). Immutable plain data: what is stored is what is in hand.
 * It does not know calls, prompts or clocks. Invariant (tree-faults.ts): the queue holds exactly the queued nodes, no node is deeper than
 * the limit, and an ended run has no live node. Serves seed 003: the outer scaffold owns tree state, scheduling and termination.
 */
import { ok, type Result, refuse } from '#base/result.ts';
import type { NodeState } from './node-state.ts';
import type { RunState, TerminationReason } from './run-state.ts';

export interface RlmNode {
  readonly id: string;
  readonly parent_id: string | null;
  readonly ac_node_id: string;
  readonly depth: number;
  readonly state: NodeState;
  readonly children_ids: readonly string[];
  /** How often it went back to the queue. */
  readonly retries: number;
}

export interface TreeLimits {
  /** 0..5; the root has depth 0. */
  readonly max_depth: number;
  /** Selections from the queue. */
  readonly max_iterations: number;
  /** Nodes that work at once; a parent that waits for its children does not count. */
  readonly max_in_flight: number;
  readonly max_retries: number;
}

export interface RlmTree {
  readonly run_id: string;
  readonly run_state: RunState;
  readonly termination_reason: TerminationReason | null;
  readonly root_id: string;
  readonly limits: TreeLimits;
  readonly iteration: number;
  readonly nodes: Readonly<Record<string, RlmNode>>;
  /** First in, first out. */
  readonly work_queue: readonly string[];
}

const DEEPEST = 5;
const DEFAULT_TREE_LIMITS: TreeLimits = {
  max_depth: DEEPEST,
  max_iterations: 64,
  max_in_flight: 1,
  max_retries: 1,
};

export interface NewTree {
  readonly run_id: string;
  readonly root_id?: string;
  readonly root_ac_node_id?: string;
  readonly limits?: Partial<TreeLimits>;
}

export function newRlmTree({
  run_id,
  root_id = 'rlm_node_root',
  root_ac_node_id = 'rlm_ac_root',
  limits,
}: NewTree): Result<RlmTree, 'tree-limit-invalid'> {
  const kept = { ...DEFAULT_TREE_LIMITS, ...limits };
  const wrong = wrongLimit(kept);
  if (wrong !== null) return refuse('tree-limit-invalid', wrong);
  const root: RlmNode = {
    id: root_id,
    parent_id: null,
    ac_node_id: root_ac_node_id,
    depth: 0,
    state: 'queued',
    children_ids: [],
    retries: 0,
  };
  return ok({
    run_id,
    run_state: 'initialized',
    termination_reason: null,
    root_id,
    limits: kept,
    iteration: 0,
    nodes: { [root_id]: root },
    work_queue: [root_id],
  });
}

function wrongLimit({ max_depth, max_iterations, max_in_flight, max_retries }: TreeLimits): string | null {
  if (!isWhole(max_depth, 0) || max_depth > DEEPEST) return `max_depth is a whole number from 0 to ${DEEPEST}`;
  if (!isWhole(max_iterations, 1)) return 'max_iterations is a whole number above 0';
  if (!isWhole(max_in_flight, 1)) return 'max_in_flight is a whole number above 0';
  return isWhole(max_retries, 0) ? null : 'max_retries is a whole number, 0 or more';
}

function isWhole(value: number, least: number): boolean {
  return Number.isSafeInteger(value) && value >= least;
}

export function nodeOf(tree: RlmTree, id: string): RlmNode | undefined {
  return Object.hasOwn(tree.nodes, id) ? tree.nodes[id] : undefined;
}
