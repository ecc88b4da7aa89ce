// Owns what must hold of a tree at any time. Total on well-shaped trees.
import { END_OF, hasEnded, isTerminal, type RlmNode, type RlmTree } from '#extensions/rlm/scaffold/run-tree.ts';

/** One sentence for each thing that is wrong; empty when the tree is sound. */
export function treeFaults(tree: RlmTree): readonly string[] {
  return [
    ...runFaults(tree),
    ...queueFaults(tree),
    ...Object.values(tree.nodes).flatMap((node) => nodeFaults(tree, node)),
  ];
}

function runFaults(tree: RlmTree): readonly string[] {
  const { run_state, termination_reason: reason } = tree;
  const faults: string[] = [];
  if (hasEnded(run_state) !== (reason !== null)) faults.push('a run has a reason when it has ended, and only then');
  if (reason !== null && END_OF[reason] !== run_state) faults.push(`${reason} does not end a run as ${run_state}`);
  if (tree.iteration > tree.limits.max_iterations) faults.push('more iterations than allowed');
  const alive = Object.values(tree.nodes).some((node) => !isTerminal(node.state));
  if (hasEnded(run_state) && alive && reason !== 'dry_run_ready') faults.push('an ended run has a live node');
  if (tree.nodes[tree.root_id] === undefined) faults.push('the root is missing');
  return faults;
}

function queueFaults(tree: RlmTree): readonly string[] {
  const queued = Object.values(tree.nodes).filter((node) => node.state === 'queued');
  const waiting = new Set(tree.work_queue);
  const same =
    waiting.size === tree.work_queue.length &&
    queued.length === waiting.size &&
    queued.every((node) => waiting.has(node.id));
  return same ? [] : ['the queue is not the list of queued nodes'];
}

function nodeFaults(tree: RlmTree, node: RlmNode): readonly string[] {
  const faults: string[] = [];
  if (node.depth > tree.limits.max_depth) faults.push(`${node.id} is too deep`);
  if (node.retries > tree.limits.max_retries) faults.push(`${node.id} was retried too often`);
  const parent = node.parent_id === null ? null : tree.nodes[node.parent_id];
  if (parent === undefined) faults.push(`${node.id} has no parent`);
  else if ((parent?.depth ?? -1) + 1 !== node.depth) faults.push(`${node.id} has the wrong depth`);
  else if (parent?.children_ids.includes(node.id) === false) faults.push(`${node.id} is no child of its parent`);
  if ((node.parent_id === null) !== (node.id === tree.root_id)) faults.push(`${node.id} is a second root`);
  if (node.children_ids.some((id) => tree.nodes[id]?.parent_id !== node.id))
    faults.push(`${node.id} lists a child that is not its own`);
  return faults;
}
