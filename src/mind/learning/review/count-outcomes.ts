// Owns what the outcomes of a review's proposals come to: numbers, what waits, why the rest was refused. Pure.
import type { Kept } from '../keep/keep-proposal.ts';
import type { ReviewOutcome } from './review.ts';

export function countOutcomes(
  outcomes: readonly Kept[],
): Required<Pick<ReviewOutcome, 'kept' | 'refused' | 'pending' | 'drafts' | 'refusals'>> {
  const drafts = outcomes.flatMap((one) => (one.status === 'pending' ? [one.proposal.id] : []));
  const refusals = outcomes.flatMap((one) => (one.status === 'refused' ? [one.reason] : []));
  const kept = outcomes.length - drafts.length - refusals.length;
  return { kept, refused: refusals.length, pending: drafts.length, drafts, refusals };
}
