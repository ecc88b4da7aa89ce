// Owns the moves of a run between its states short of an end; ends have a reason and go through end-run.ts.
// Invariant: total; a refusal leaves the tree as it was; a run never schedules past nodes that still work.
import { ok, type Result, refuse } from '#base/result.ts';
import { isTerminal, isWorking } from './node-state.ts';
import type { RlmNode, RlmTree } from './rlm-tree.ts';
import { END_OF, RUN_MOVES, type RunState } from './run-state.ts';
import { type Cause, type Step, transitionOf } from './transition.ts';

export type RunRefusal = 'move-not-allowed' | 'end-needs-reason' | 'nodes-in-flight';

export function moveRun(tree: RlmTree, to: RunState, cause: Cause): Result<Step, RunRefusal> {
  const from = tree.run_state;
  if (Object.values<RunState>(END_OF).includes(to))
    return refuse('end-needs-reason', 'a run ends by endRun with its reason');
  if (!RUN_MOVES[from].includes(to)) return refuse('move-not-allowed', `a run does not go from ${from} to ${to}`);
  if (from !== 'scheduling' && inFlight(tree).length > 0) return refuse('nodes-in-flight', 'a node is still at work');
  return ok(setRun(tree, to, cause));
}

/** Writes the state and its record; whoever calls has checked the move. */
export function setRun(tree: RlmTree, to: RunState, cause: Cause): Step {
  const move = { subject: 'run', subject_id: tree.run_id, from_state: tree.run_state, to_state: to } as const;
  return { tree: { ...tree, run_state: to }, transitions: [transitionOf(tree, move, cause)] };
}

/** Nodes at work; a parent that was given children waits for them, bound to its context, and does not count. */
export function inFlight(tree: RlmTree): readonly RlmNode[] {
  return Object.values(tree.nodes).filter((node) => isWorking(node.state) && !waits(node));
}

function waits(node: RlmNode): boolean {
  return node.state === 'context_bound' && node.children_ids.length > 0;
}

/** Root done, queue empty, nothing alive. */
export function isConverged(tree: RlmTree): boolean {
  return tree.work_queue.length === 0 && Object.values(tree.nodes).every((node) => isTerminal(node.state));
}
