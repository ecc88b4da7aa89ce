// Owns the moves of an acceptance criterion between its statuses, and when it may be taken apart (notes 14).
// Invariant: total; completed and failed are never left.
import { ok, type Result, refuse } from '#base/result.ts';
import { type AcStatus, type AcTree, acNodeOf } from './ac-tree.ts';

export const AC_MOVES: Readonly<Record<AcStatus, readonly AcStatus[]>> = {
  pending: ['atomic', 'decomposed', 'executing', 'failed'],
  atomic: ['executing', 'failed'],
  executing: ['decomposed', 'completed', 'failed'],
  decomposed: ['completed', 'failed'],
  completed: [],
  failed: [],
};

export function setAcStatus(
  tree: AcTree,
  id: string,
  status: AcStatus,
): Result<AcTree, 'ac-node-unknown' | 'move-not-allowed'> {
  const node = acNodeOf(tree, id);
  if (node === undefined) return refuse('ac-node-unknown', `there is no node ${id}`);
  if (!AC_MOVES[node.status].includes(status))
    return refuse('move-not-allowed', `${id} does not go from ${node.status} to ${status}`);
  const changed = { ...node, status, is_atomic: status === 'atomic' ? true : node.is_atomic };
  return ok({ ...tree, nodes: { ...tree.nodes, [id]: changed } });
}

export function canDecompose(tree: AcTree, id: string): boolean {
  const node = acNodeOf(tree, id);
  if (node === undefined || node.is_atomic || node.depth >= tree.max_depth) return false;
  return AC_MOVES[node.status].includes('decomposed');
}
