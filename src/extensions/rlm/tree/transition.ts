// Owns the record of one move (notes 13.3) and what every step of a tree gives back: the new tree and its records. Shapes only.
import type { NodeState } from './node-state.ts';
import type { RlmTree } from './rlm-tree.ts';
import type { RunState } from './run-state.ts';

/** Why a move is made, in the words of whoever makes it. */
export interface Cause {
  readonly decision: string;
  readonly reason: string;
  readonly causal_parent_event_id?: string | null;
}

export interface Transition {
  readonly iteration: number;
  readonly subject: 'run' | 'node';
  readonly subject_id: string;
  readonly from_state: RunState | NodeState;
  readonly to_state: RunState | NodeState;
  readonly decision: string;
  readonly reason: string;
  readonly causal_parent_event_id: string | null;
}

export interface Step {
  readonly tree: RlmTree;
  readonly transitions: readonly Transition[];
}

export function transitionOf(
  tree: RlmTree,
  move: Pick<Transition, 'subject' | 'subject_id' | 'from_state' | 'to_state'>,
  cause: Cause,
): Transition {
  const { decision, reason, causal_parent_event_id } = cause;
  return {
    iteration: tree.iteration,
    ...move,
    decision,
    reason,
    causal_parent_event_id: causal_parent_event_id ?? null,
  };
}
