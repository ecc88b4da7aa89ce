// Owns which step a proposal may take from which status; every ledger asks here. Pure.
// Invariant: a final status never changes; `pending` is not final, the owner still decides.
import { TalariaError } from '#base/errors.ts';
import type { Decision, Proposal, ProposalStatus } from './proposal.ts';

const OPEN: readonly ProposalStatus[] = ['proposed', 'pending', 'writing'];

type Decided = Pick<Proposal, 'id' | 'status' | 'reason' | 'detail'>;

/** Throws `no-such-proposal`. */
export function needProposal<T>(proposal: T | undefined, id: string): T {
  if (proposal !== undefined) return proposal;
  throw new TalariaError(`there is no proposal ${id}`, { code: 'no-such-proposal' });
}

/** Throws `proposal-begun` | `proposal-decided`. */
export function checkBegin({ id, status }: Decided): void {
  if (status === 'proposed' || status === 'pending') return;
  if (status === 'writing') throw new TalariaError(`${id} is being written already`, { code: 'proposal-begun' });
  throw new TalariaError(`${id} is decided already: ${status}`, { code: 'proposal-decided' });
}

/** False when the proposal stands decided in the same way. Throws `proposal-decided`. */
export function checkDecision(proposal: Decided, decision: Decision): boolean {
  const { id, status } = proposal;
  const equal =
    status === decision.status && proposal.reason === decision.reason && proposal.detail === decision.detail;
  if (equal) return false;
  if (OPEN.includes(status)) return true;
  throw new TalariaError(`${id} is decided already: ${status}`, { code: 'proposal-decided' });
}

/** What became of a write that was begun, by the file as it is found now. */
export function outcomeByHash(
  hashes: { readonly beforeHash?: string | null; readonly afterHash?: string | null },
  found: string | null,
): 'applied' | 'dropped' | 'edited' {
  if (found === (hashes.afterHash ?? null)) return 'applied';
  return found === (hashes.beforeHash ?? null) ? 'dropped' : 'edited';
}
