// Owns the choice of the next node: the first of the queue, while fewer work than may (notes 13.4). Selecting one counts one iteration.
// Invariant: nodes are taken in the order in which they were queued; with no iteration left the run has failed, and says so.
import { ok, type Result, refuse } from '#base/result.ts';
import { endRun } from './end-run.ts';
import { setNode } from './move-node.ts';
import { inFlight, setRun } from './move-run.ts';
import type { RlmTree } from './rlm-tree.ts';
import type { Cause, Step } from './transition.ts';

export type TakeRefusal = 'run-not-scheduling' | 'queue-empty' | 'in-flight-limit' | 'not-ended';

/** `node_id` is null when the iterations are used up: then the run has failed with `max_iterations_reached`. */
export type Taken = Step & { readonly node_id: string | null };

export function takeNext(tree: RlmTree, cause: Cause): Result<Taken, TakeRefusal> {
  if (tree.run_state !== 'scheduling' && tree.run_state !== 'running_node')
    return refuse('run-not-scheduling', `the run is ${tree.run_state}`);
  const [node_id] = tree.work_queue;
  if (node_id === undefined) return refuse('queue-empty', 'no node waits');
  if (inFlight(tree).length >= tree.limits.max_in_flight) return refuse('in-flight-limit', 'as many nodes work as may');
  if (tree.iteration >= tree.limits.max_iterations) return exhausted(tree, cause);
  const counted = { ...tree, iteration: tree.iteration + 1 };
  const run =
    counted.run_state === 'scheduling' ? setRun(counted, 'running_node', cause) : { tree: counted, transitions: [] };
  const node = setNode(run.tree, { node_id, to: 'preparing' }, cause);
  return ok({ tree: node.tree, transitions: [...run.transitions, ...node.transitions], node_id });
}

function exhausted(tree: RlmTree, cause: Cause): Result<Taken, TakeRefusal> {
  const ended = endRun(tree, 'max_iterations_reached', { ...cause, reason: 'max_iterations_reached' });
  return ended.ok ? ok({ ...ended.value, node_id: null }) : refuse('not-ended', ended.detail);
}
