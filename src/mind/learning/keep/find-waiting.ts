// Owns knowing whether the very same change waits for the owner already. Reads the ledger; writes nothing.
// Invariant: which SKILL.md it was made for makes no difference: the owner decides about the change.
import { canonicalJson, type JsonObject } from '#base/json.ts';
import type { Proposal, ProposalDraft, ProposalLedger } from '#mind/evidence/proposal.ts';

type Change = Pick<ProposalDraft, 'kind' | 'target' | 'action' | 'change'>;

export function findWaiting(ledger: Pick<ProposalLedger, 'list'>, draft: Change): Proposal | undefined {
  const wanted = bare(draft.change);
  return ledger
    .list({ kind: draft.kind, status: 'pending' })
    .find((one) => one.target === draft.target && one.action === draft.action && bare(one.change) === wanted);
}

/** Names are kept by some writers and not by others. */
function bare({ expected_hash: _hash, name: _name, action: _action, ...change }: JsonObject): string {
  return canonicalJson(change);
}
