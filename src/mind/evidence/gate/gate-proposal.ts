// Owns the gate that what an unattended writer wants to keep must pass: the added text of a proposal as claims on its session's messages.
// Knows no ledger and no file. Invariants: pure; nothing is accepted whose citations do not support it; what is refused for its origin
// alone waits for the owner. A removal keeps nothing, yet what it cites must be there and of an allowed origin.
import type { StoredMessage } from '#core/agent/session-store.ts';
import type { ProposalDraft } from '../proposal.ts';
import { checkClaims } from '../trace-guard/check-claims.ts';
import type { ClaimRefusalReason, EvidenceEntry } from '../trace-guard/claim.ts';
import { type AddedText, type AddedTextOptions, addedTexts } from './added-text.ts';
import { policyFor } from './gate-policy.ts';
import { messageEvidence } from './message-evidence.ts';

export type GateVerdict =
  | { readonly decision: 'accepted' }
  | { readonly decision: 'pending'; readonly reason: 'origin-not-allowed'; readonly detail: string }
  | { readonly decision: 'refused'; readonly reason: ClaimRefusalReason | 'incomplete'; readonly detail: string };

/** `messages`: all of the proposal's session, oldest first (`sessionMessages`), and of no other. */
export function gateProposal(
  draft: ProposalDraft,
  messages: readonly StoredMessage[],
  options: AddedTextOptions = {},
): GateVerdict {
  const added = addedTexts(draft, options);
  if (typeof added === 'string') return { decision: 'refused', reason: 'incomplete', detail: added };
  const entries = messageEvidence(messages, { observedArguments: draft.kind === 'skill' ? 'all' : 'short' });
  const failed = added.flatMap((one, index) => judge(draft, one, { id: String(index), entries }));
  const refused = failed.find(({ reason }) => reason !== 'origin-not-allowed') ?? failed[0];
  if (added.length === 0) return { decision: 'refused', reason: 'incomplete', detail: 'It asks for no change.' };
  if (refused === undefined) return { decision: 'accepted' };
  const { reason, detail } = refused;
  return reason === 'origin-not-allowed'
    ? { decision: 'pending', reason, detail }
    : { decision: 'refused', reason, detail };
}

interface Failure {
  readonly reason: ClaimRefusalReason;
  readonly detail: string;
}

/** What only goes needs a true quote; a grant that nobody spoke of waits, since the owner may give it by his yes. */
function judge(
  draft: ProposalDraft,
  added: AddedText,
  { id, entries }: { readonly id: string; readonly entries: readonly EvidenceEntry[] },
): readonly Failure[] {
  const quoted = draft.citations.map(({ quote }) => quote).join('\n');
  const claim = { id, text: added.text === '' ? quoted : added.text, citations: draft.citations };
  return checkClaims(entries, [claim], policyFor(draft, added)).flatMap((verdict) => {
    if (verdict.accepted) return [];
    const { reason, detail } = verdict;
    return [{ reason: added.isGrant && reason === 'evidence_text_mismatch' ? 'origin-not-allowed' : reason, detail }];
  });
}
