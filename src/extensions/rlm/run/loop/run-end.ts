// Owns what a run has come to when nothing is left to do: verdict, reason, and why in one sentence. Moves nothing.
// Invariant: `accepted` only with a claim that the guard accepted; a run that is not accepted says why.
import { hasEnded, type TerminationReason } from '../../tree/run-state.ts';
import type { RunVerdict } from '../run-outcome.ts';
import type { RunRequest } from '../run-request.ts';
import type { NodeResult } from './node-result.ts';
import type { RunState } from './run-state.ts';

export interface RunEnd {
  readonly verdict: RunVerdict;
  readonly reason: TerminationReason;
  readonly detail: string | null;
}

export function runEnd(state: RunState, request: RunRequest): RunEnd {
  const { run_state, termination_reason: reason } = state.keeper.tree;
  if (hasEnded(run_state) && reason !== null) return early(reason, request);
  const root = state.resultOf(state.root);
  if (root.status === 'done') return doneEnd(state, root);
  if (root.status === 'empty') return noEvidence(state);
  if (root.judged !== undefined) {
    const reasons = [...new Set(root.judged.validation.rejected_claims.map((one) => one.reason))].join(', ');
    const why = reasons === '' ? (root.judged.problems[0] ?? 'its form') : reasons;
    return { verdict: 'refused', reason: 'node_failed', detail: `The synthesis was refused: ${why}.` };
  }
  return { verdict: 'failed', reason: 'node_failed', detail: failureText(state, root) };
}

function early(reason: TerminationReason, { ambiguity, limits }: RunRequest): RunEnd {
  if (reason === 'cancelled') return { verdict: 'cancelled', reason, detail: 'The run was stopped on request.' };
  if (reason === 'guardrail_failed')
    return { verdict: 'refused', reason, detail: ambiguity.question ?? 'The request is too ambiguous.' };
  return { verdict: 'failed', reason, detail: `The ${limits.max_iterations} iterations of the run are used up.` };
}

function doneEnd(state: RunState, { judged, facts }: NodeResult): RunEnd {
  const isLeaf = state.root.kind === 'leaf';
  const reason = isLeaf ? 'root_atomic_completed' : 'parent_synthesis_completed';
  if (judged?.validation.accepted === true) return { verdict: 'accepted', reason, detail: null };
  if (facts.length === 0) return { ...noEvidence(state), reason };
  return { verdict: 'refused', reason, detail: 'The facts did not pass the guard.' };
}

function noEvidence({ stopped }: RunState): RunEnd {
  const cut = stopped === null ? '' : ` Not all chunks were asked: ${stopped}.`;
  const detail = `No chunk that was read holds a quotation that answers.${cut}`;
  return { verdict: 'no_evidence', reason: 'work_queue_exhausted', detail };
}

function failureText(state: RunState, root: NodeResult): string {
  const first = root.gaps[0]?.why ?? [...state.results.values()].flatMap(({ gaps }) => gaps)[0]?.why;
  const why = first ?? state.stopped ?? 'no call brought a reply';
  return root.facts.length > 0 || state.ledger.all().length > 0
    ? `There is evidence, but no synthesis: ${why}.`
    : `No call brought a usable reply: ${why}.`;
}
