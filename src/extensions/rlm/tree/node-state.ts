// Owns the states of one node of a run and the moves between them (notes 13.3). Data only.
// Invariant: what is not listed is not allowed; an end is never left; every other state can be cancelled.

export const NODE_STATES = [
  'queued',
  'preparing',
  'context_bound',
  'awaiting_hermes',
  'validating_response',
  'committing',
  'blocked_retry',
  'decomposed',
  'atomic_complete',
  'summary_complete',
  'synthesis_complete',
  'failed',
  'cancelled',
] as const;
export type NodeState = (typeof NODE_STATES)[number];

export const NODE_MOVES: Readonly<Record<NodeState, readonly NodeState[]>> = {
  queued: ['preparing', 'cancelled'],
  preparing: ['context_bound', 'failed', 'cancelled'],
  context_bound: ['awaiting_hermes', 'cancelled'],
  awaiting_hermes: ['validating_response', 'blocked_retry', 'failed', 'cancelled'],
  validating_response: ['committing', 'blocked_retry', 'failed', 'cancelled'],
  blocked_retry: ['queued', 'failed', 'cancelled'],
  committing: ['decomposed', 'atomic_complete', 'summary_complete', 'synthesis_complete', 'failed', 'cancelled'],
  decomposed: [],
  atomic_complete: [],
  summary_complete: [],
  synthesis_complete: [],
  failed: [],
  cancelled: [],
};

export function isTerminal(state: NodeState): boolean {
  return NODE_MOVES[state].length === 0;
}

const WORKING: readonly NodeState[] = [
  'preparing',
  'context_bound',
  'awaiting_hermes',
  'validating_response',
  'committing',
];

/** Taken from the queue and not yet back or done. */
export function isWorking(state: NodeState): boolean {
  return WORKING.includes(state);
}
