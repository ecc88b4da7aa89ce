// Owns what follows from the outcomes of a review or a flush: mirrors, readers that must see the write, the log.
// Knows no model. Invariant: a refused proposal is named in the log with its reason.
import type { Proposal } from '#mind/evidence/proposal.ts';
import type { MemoryWriteNotice } from '#mind/memory/memory-provider.ts';
import { writtenNotices } from '../provider/written-notices.ts';
import type { Kept } from './keep-proposal.ts';

export interface SettleParts {
  readonly mirror: (notice: MemoryWriteNotice) => Promise<void>;
  /** Called after a skill was written, so that its readers see it. */
  readonly skillWritten: () => Promise<void>;
  readonly log: (event: string, text: string) => void;
}

export async function settleOutcomes(parts: SettleParts, outcomes: readonly Kept[]): Promise<void> {
  for (const kept of outcomes) {
    if (kept.status === 'refused') parts.log('proposal-refused', `${kept.proposal.id} ${kept.reason}: ${kept.detail}`);
    if (kept.status === 'pending') parts.log('proposal-pending', `${kept.proposal.id} ${kept.reason}`);
  }
  const written = outcomes.flatMap((kept) => (kept.status === 'applied' ? [kept.proposal] : []));
  for (const proposal of written) await spread(parts, proposal);
}

/** Also after the owner's yes. */
export async function spread({ mirror, skillWritten }: SettleParts, proposal: Proposal): Promise<void> {
  if (proposal.kind === 'skill') return skillWritten();
  for (const notice of writtenNotices(proposal.sessionId ?? '', { ...proposal.change, target: proposal.target }))
    await mirror(notice);
}
