// Owns the outcome of a block that took the sandbox with it. How far it came hangs on the machine, so that nothing of it is told: the same
// code gives the same outcome everywhere.
import type { BlockFailure, BlockOutcome } from '../repl-session.ts';

export type DeadlyFailure = Exclude<BlockFailure, 'threw' | 'sub_call_limit'>;

const DETAILS: Readonly<Record<DeadlyFailure, string>> = {
  out_of_memory: 'the block took more memory than the sandbox has',
  out_of_time: 'the block computed for too long',
  sandbox_died: 'the engine of the sandbox broke down',
  cancelled: 'stopped on request',
};
const GONE = '; its output, its handles and all variables are gone';

export function deadOutcome(reason: DeadlyFailure): BlockOutcome {
  const detail = reason === 'cancelled' ? DETAILS[reason] : DETAILS[reason] + GONE;
  return { output: '', cut: 0, failure: { reason, detail }, answer: null, variables: [] };
}

export function isDeadly(outcome: BlockOutcome): boolean {
  const reason = outcome.failure?.reason;
  return reason !== undefined && Object.hasOwn(DETAILS, reason);
}
