// Owns the gate that what an unattended writer wants to keep must pass: the added text of a proposal as claims on its session's messages.
// Knows no ledger and no file. Invariants: pure; nothing is accepted whose citations do not support it; what is refused for its origin
// alone waits for the owner. A removal keeps nothing, yet what it cites must be there and of an allowed origin.
import type { StoredMessage } from '#core/agent/session-store.ts';
import type { ProposalDraft } from '../proposal.ts';
import { checkClaims } from '../trace-guard/check-claims.ts';
import type { ClaimRefusalReason } from '../trace-guard/claim.ts';
import { type AddedTextOptions, addedTexts } from './added-text.ts';
import { policyFor } from './gate-policy.ts';
import { messageEvidence } from './message-evidence.ts';

export type GateVerdict =
  | { readonly decision: 'accepted' }
  | { readonly decision: 'pending'; readonly reason: 'origin-not-allowed'; readonly detail: string }
  | { readonly decision: 'refused'; readonly reason: ClaimRefusalReason; readonly detail: string };

/** `messages`: all of the proposal's session, oldest first (`sessionMessages`), and of no other. */
export function gateProposal(
  draft: ProposalDraft,
  messages: readonly StoredMessage[],
  options: AddedTextOptions = {},
): GateVerdict {
  const entries = messageEvidence(messages, { observedArguments: draft.kind === 'skill' ? 'all' : 'short' });
  const quoted = draft.citations.map(({ quote }) => quote).join('\n');
  const verdicts = addedTexts(draft, options).flatMap((text, index) => {
    const claim = { id: String(index), text: text === '' ? quoted : text, citations: draft.citations };
    return checkClaims(entries, [claim], policyFor(draft, text));
  });
  const failed = verdicts.flatMap((verdict) => (verdict.accepted ? [] : [verdict]));
  const refused = failed.find(({ reason }) => reason !== 'origin-not-allowed') ?? failed[0];
  if (refused === undefined) return { decision: 'accepted' };
  const { reason, detail } = refused;
  return reason === 'origin-not-allowed'
    ? { decision: 'pending', reason, detail }
    : { decision: 'refused', reason, detail };
}
