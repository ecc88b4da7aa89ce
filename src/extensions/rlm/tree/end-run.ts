/**
 * Owns how a run ends: completed, failed or cancelled, with one of nine reasons (notes 13.3). It does not judge answers.
 * Invariant: only listed moves are made; a run completes only when it has converged (a dry run, before it began); a failed or cancelled
 * run leaves no live node behind; cancelling is allowed at any time and changes nothing once a run has ended.
 */
import { ok, type Result, refuse } from '#base/result.ts';
import { cancelNodes } from './move-node.ts';
import { isConverged, setRun } from './move-run.ts';
import type { RlmTree } from './rlm-tree.ts';
import { END_OF, hasEnded, RUN_MOVES, type RunState, type TerminationReason } from './run-state.ts';
import type { Cause, Step, Transition } from './transition.ts';

export type EndRefusal = 'run-ended' | 'move-not-allowed' | 'not-converged';

export function endRun(tree: RlmTree, reason: TerminationReason, cause: Cause): Result<Step, EndRefusal> {
  if (hasEnded(tree.run_state)) return refuse('run-ended', `the run is ${tree.run_state}`);
  const end = END_OF[reason];
  if (end === 'cancelled') return ok(cancelRun(tree, cause));
  if (end === 'failed') return ok(failRun(tree, reason, cause));
  if (!RUN_MOVES[tree.run_state].includes('completed'))
    return refuse('move-not-allowed', `a run does not complete from ${tree.run_state}`);
  if (reason === 'dry_run_ready' ? tree.iteration > 0 : !isConverged(tree))
    return refuse('not-converged', 'there is work left');
  const step = setRun(tree, 'completed', cause);
  return ok({ ...step, tree: { ...step.tree, termination_reason: reason } });
}

/** Total: from any state, once or often. */
export function cancelRun(tree: RlmTree, cause: Cause): Step {
  if (hasEnded(tree.run_state)) return { tree, transitions: [] };
  const nodes = cancelNodes({ tree, transitions: [] }, Object.keys(tree.nodes), cause);
  const run = setRun(nodes.tree, 'cancelled', cause);
  return {
    tree: { ...run.tree, termination_reason: 'cancelled' },
    transitions: [...nodes.transitions, ...run.transitions],
  };
}

/** From where a run cannot fail at once, the listed moves on the way. */
const WAY_TO_FAILED: Readonly<Partial<Record<RunState, RunState>>> = {
  initialized: 'guarding',
  scheduling: 'running_node',
};

function failRun(tree: RlmTree, reason: TerminationReason, cause: Cause): Step {
  const transitions: Transition[] = [];
  const between = WAY_TO_FAILED[tree.run_state];
  const near = between === undefined ? { tree, transitions } : setRun(tree, between, cause);
  const nodes = cancelNodes(near, Object.keys(near.tree.nodes), cause);
  const run = setRun(nodes.tree, 'failed', cause);
  return { tree: { ...run.tree, termination_reason: reason }, transitions: [...nodes.transitions, ...run.transitions] };
}
