// Owns the growth of a tree: children of a node, at the end of the queue, in order (notes 13.4).
// Invariant: no node beyond the depth, no id twice, no child of a node that is done with its work.
import { ok, type Result, refuse } from '#base/result.ts';
import type { NodeState } from './node-state.ts';
import { withNodes } from './node-table.ts';
import { nodeOf, type RlmNode, type RlmTree } from './rlm-tree.ts';
import { hasEnded } from './run-state.ts';

export type GrowthRefusal =
  | 'node-unknown'
  | 'run-ended'
  | 'parent-not-open'
  | 'max_depth_reached'
  | 'node-exists'
  | 'no-children';

export interface NewChildren {
  readonly parent_id: string;
  readonly children: readonly Pick<RlmNode, 'id' | 'ac_node_id'>[];
}

const OPEN: readonly NodeState[] = ['context_bound', 'committing', 'decomposed'];

export function addChildren(tree: RlmTree, { parent_id, children }: NewChildren): Result<RlmTree, GrowthRefusal> {
  const parent = nodeOf(tree, parent_id);
  if (parent === undefined) return refuse('node-unknown', `there is no node ${parent_id}`);
  const refused = refuseGrowth(tree, parent, children);
  if (refused !== null) return refuse(refused, `${parent_id} cannot take these children`);
  const depth = parent.depth + 1;
  const fresh = children.map(
    ({ id, ac_node_id }): RlmNode => ({
      id,
      ac_node_id,
      parent_id,
      depth,
      state: 'queued',
      children_ids: [],
      retries: 0,
    }),
  );
  const ids = fresh.map((node) => node.id);
  const grown = { ...parent, children_ids: [...parent.children_ids, ...ids] };
  const nodes = withNodes(tree.nodes, [grown, ...fresh]);
  return ok({ ...tree, nodes, work_queue: [...tree.work_queue, ...ids] });
}

function refuseGrowth(tree: RlmTree, parent: RlmNode, children: NewChildren['children']): GrowthRefusal | null {
  if (hasEnded(tree.run_state)) return 'run-ended';
  if (!OPEN.includes(parent.state)) return 'parent-not-open';
  if (parent.depth + 1 > tree.limits.max_depth) return 'max_depth_reached';
  if (children.length === 0) return 'no-children';
  const ids = new Set(children.map((child) => child.id));
  if (ids.size < children.length || [...ids].some((id) => nodeOf(tree, id) !== undefined)) return 'node-exists';
  return null;
}
