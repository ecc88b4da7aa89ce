// Owns the tree of one run while it is worked on, and the moves that no event holds yet. Knows no call.
// Invariant: only listed moves are made (tree/**); a move that is refused here is a bug of the loop and is thrown; every move comes out of
// `drain` exactly once, in order.
import { TalariaError } from '#base/errors.ts';
import type { Result } from '#base/result.ts';
import { addChildren } from '../../tree/add-children.ts';
import { cancelRun, endRun } from '../../tree/end-run.ts';
import { moveNode } from '../../tree/move-node.ts';
import { moveRun } from '../../tree/move-run.ts';
import type { NodeState } from '../../tree/node-state.ts';
import { draftTree } from '../../tree/node-table.ts';
import { newRlmTree, nodeOf, type RlmNode, type RlmTree, type TreeLimits } from '../../tree/rlm-tree.ts';
import type { RunState, TerminationReason } from '../../tree/run-state.ts';
import { takeNext } from '../../tree/take-next.ts';
import type { Cause, Step, Transition } from '../../tree/transition.ts';
import type { NodePlan } from './node-plan.ts';

export class TreeKeeper {
  #tree: RlmTree;
  #pending: Transition[] = [];

  constructor(run_id: string, limits: TreeLimits) {
    this.#tree = draftTree(sure(newRlmTree({ run_id, limits })));
  }

  /** As it is now: the next move changes its nodes. */
  get tree(): RlmTree {
    return this.#tree;
  }

  node(id: string): RlmNode {
    const node = nodeOf(this.#tree, id);
    if (node === undefined) throw broken(`there is no node ${id}`);
    return node;
  }

  /** Through all of the states, in order. */
  move(node_id: string, states: readonly NodeState[], cause: Cause): void {
    for (const to of states) this.#take(sure(moveNode(this.#tree, { node_id, to }, cause)));
  }

  moveRun(to: RunState, cause: Cause): void {
    this.#take(sure(moveRun(this.#tree, to, cause)));
  }

  /** Null: the iterations are used up, and the run has failed. */
  takeNext(cause: Cause): string | null {
    const taken = sure(takeNext(this.#tree, cause));
    this.#take(taken);
    return taken.node_id;
  }

  addChildren(parent_id: string, children: readonly NodePlan[]): void {
    this.#tree = sure(addChildren(this.#tree, { parent_id, children }));
  }

  end(reason: TerminationReason, cause: Cause): void {
    this.#take(sure(endRun(this.#tree, reason, cause)));
  }

  cancel(cause: Cause): void {
    this.#take(cancelRun(this.#tree, cause));
  }

  drain(): readonly Transition[] {
    const drained = this.#pending;
    this.#pending = [];
    return drained;
  }

  #take(step: Step): void {
    this.#tree = step.tree;
    this.#pending.push(...step.transitions);
  }
}

function sure<T>(result: Result<T>): T {
  if (!result.ok) throw broken(`${result.reason}: ${result.detail}`);
  return result.value;
}

function broken(what: string): TalariaError {
  return new TalariaError(`The run's tree refused a move: ${what}.`, { code: 'rlm-tree-broken' });
}
