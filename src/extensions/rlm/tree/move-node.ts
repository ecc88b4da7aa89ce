// Owns the moves of a node. A node leaves the queue only through take-next.ts; back to the queue it goes a limited number of times.
// Invariant: total; a refusal leaves the tree as it was; whoever fails or is cancelled takes its live descendants along.
import { ok, type Result, refuse } from '#base/result.ts';
import { isTerminal, NODE_MOVES, type NodeState } from './node-state.ts';
import { withNodes } from './node-table.ts';
import { nodeOf, type RlmNode, type RlmTree } from './rlm-tree.ts';
import { hasEnded } from './run-state.ts';
import { type Cause, type Step, type Transition, transitionOf } from './transition.ts';

export type NodeRefusal =
  | 'node-unknown'
  | 'run-ended'
  | 'run-not-started'
  | 'move-not-allowed'
  | 'take-from-queue'
  | 'retries-exhausted'
  | 'children-alive';

export interface NodeMove {
  readonly node_id: string;
  readonly to: NodeState;
}

export function moveNode(tree: RlmTree, move: NodeMove, cause: Cause): Result<Step, NodeRefusal> {
  const node = nodeOf(tree, move.node_id);
  if (node === undefined) return refuse('node-unknown', `there is no node ${move.node_id}`);
  const refused = refuseMove(tree, node, move.to);
  if (refused !== null) return refuse(refused, `${node.id} does not go from ${node.state} to ${move.to}`);
  const step = setNode(tree, move, cause);
  if (move.to !== 'cancelled' && move.to !== 'failed') return ok(step);
  return ok(cancelNodes(step, descendantsOf(tree, node.id), cause));
}

function refuseMove(tree: RlmTree, node: RlmNode, to: NodeState): NodeRefusal | null {
  if (hasEnded(tree.run_state)) return 'run-ended';
  if (!NODE_MOVES[node.state].includes(to)) return 'move-not-allowed';
  if (to === 'cancelled') return null;
  if (tree.run_state === 'initialized' || tree.run_state === 'guarding') return 'run-not-started';
  if (to === 'preparing') return 'take-from-queue';
  if (to === 'queued' && node.retries >= tree.limits.max_retries) return 'retries-exhausted';
  // The parent is asked after its children: what it is asked holds their results.
  if (to === 'awaiting_hermes' && hasLiveChild(tree, node)) return 'children-alive';
  return null;
}

function hasLiveChild(tree: RlmTree, node: RlmNode): boolean {
  return node.children_ids.some((id) => !isTerminal(nodeOf(tree, id)?.state ?? 'cancelled'));
}

/** Writes the state, its record and the queue; whoever calls has checked the move. */
export function setNode(tree: RlmTree, { node_id, to }: NodeMove, cause: Cause): Step {
  const node = nodeOf(tree, node_id);
  if (node === undefined) return { tree, transitions: [] };
  const retries = to === 'queued' ? node.retries + 1 : node.retries;
  const rest = node.state === 'queued' ? tree.work_queue.filter((id) => id !== node_id) : tree.work_queue;
  const work_queue = to === 'queued' ? [...rest, node_id] : rest;
  const move = { subject: 'node', subject_id: node_id, from_state: node.state, to_state: to } as const;
  const nodes = withNodes(tree.nodes, [{ ...node, state: to, retries }]);
  return { tree: { ...tree, nodes, work_queue }, transitions: [transitionOf(tree, move, cause)] };
}

/** Cancels those of the nodes that are alive, in one write. */
export function cancelNodes(step: Step, ids: readonly string[], cause: Cause): Step {
  const cancelled = new Map<string, RlmNode>();
  const transitions: Transition[] = [...step.transitions];
  for (const id of ids) {
    const node = cancelled.get(id) ?? nodeOf(step.tree, id);
    if (node === undefined || isTerminal(node.state)) continue;
    cancelled.set(id, { ...node, state: 'cancelled' });
    const move = { subject: 'node', subject_id: id, from_state: node.state, to_state: 'cancelled' } as const;
    transitions.push(transitionOf(step.tree, move, cause));
  }
  const nodes = withNodes(step.tree.nodes, [...cancelled.values()]);
  const work_queue = step.tree.work_queue.filter((id) => nodes[id]?.state === 'queued');
  return { tree: { ...step.tree, nodes, work_queue }, transitions };
}

function descendantsOf(tree: RlmTree, id: string): readonly string[] {
  const found: string[] = [];
  const open = [...(nodeOf(tree, id)?.children_ids ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    found.push(next);
    open.push(...(nodeOf(tree, next)?.children_ids ?? []));
  }
  return found;
}
