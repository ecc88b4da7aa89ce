// Owns the states of a run, the moves between them, and the reasons for which one ends (notes 13.3). Data only.
// Invariant: what is not listed is not allowed; every state that is no end can be cancelled.

export const RUN_STATES = [
  'initialized',
  'guarding',
  'scheduling',
  'running_node',
  'synthesizing',
  'completed',
  'failed',
  'cancelled',
] as const;
export type RunState = (typeof RUN_STATES)[number];

export const RUN_MOVES: Readonly<Record<RunState, readonly RunState[]>> = {
  initialized: ['guarding', 'cancelled'],
  guarding: ['scheduling', 'failed', 'cancelled'],
  scheduling: ['running_node', 'synthesizing', 'completed', 'cancelled'],
  running_node: ['scheduling', 'synthesizing', 'failed', 'cancelled'],
  synthesizing: ['scheduling', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};

export type EndState = 'completed' | 'failed' | 'cancelled';

export const TERMINATION_REASONS = [
  'dry_run_ready',
  'root_atomic_completed',
  'parent_synthesis_completed',
  'work_queue_exhausted',
  'max_depth_reached',
  'max_iterations_reached',
  'node_failed',
  'guardrail_failed',
  'cancelled',
] as const;
export type TerminationReason = (typeof TERMINATION_REASONS)[number];

/** The state in which each reason ends a run. */
export const END_OF: Readonly<Record<TerminationReason, EndState>> = {
  dry_run_ready: 'completed',
  root_atomic_completed: 'completed',
  parent_synthesis_completed: 'completed',
  work_queue_exhausted: 'completed',
  max_depth_reached: 'failed',
  max_iterations_reached: 'failed',
  node_failed: 'failed',
  guardrail_failed: 'failed',
  cancelled: 'cancelled',
};

export function hasEnded(state: RunState): state is EndState {
  return RUN_MOVES[state].length === 0;
}
