// Owns what follows from the outcomes of a review or a flush: announcements, mirrors, readers that must see the write, the log.
// Knows no model. Invariant: a refused proposal is named in the log with its reason.
import type { Proposal } from '#mind/evidence/proposal.ts';
import type { MemoryWriteNotice } from '#mind/memory/memory-provider.ts';
import { writtenNotices } from '../provider/written-notices.ts';
import type { Announcements } from './announcements.ts';
import type { Kept } from './keep-proposal.ts';

export interface SettleParts {
  readonly announcements: Announcements;
  readonly mirror: (notice: MemoryWriteNotice) => Promise<void>;
  /** Called after a skill was written, so that its readers see it. */
  readonly skillWritten: () => Promise<void>;
  readonly log: (event: string, text: string) => void;
}

export async function settleOutcomes(parts: SettleParts, outcomes: readonly Kept[]): Promise<void> {
  for (const kept of outcomes) {
    if (kept.status === 'applied') parts.announcements.add(kept.proposal);
    if (kept.status === 'refused') parts.log('proposal-refused', `${kept.proposal.id} ${kept.reason}: ${kept.detail}`);
    if (kept.status === 'pending') tellPending(parts, kept);
  }
  const written = outcomes.flatMap((kept) => (kept.status === 'applied' ? [kept.proposal] : []));
  for (const proposal of written) await spread(parts, proposal);
}

/** What needs a yes is offered; the rest waits until the owner looks. */
function tellPending(
  { announcements, log }: SettleParts,
  { proposal, reason }: Extract<Kept, { status: 'pending' }>,
): void {
  log('proposal-pending', `${proposal.id} ${reason}`);
  if (reason !== 'needs-owner') announcements.waits(proposal);
}

/** Also after the owner's yes. */
export async function spread({ mirror, skillWritten }: SettleParts, proposal: Proposal): Promise<void> {
  if (proposal.kind === 'skill') return skillWritten();
  for (const notice of writtenNotices(proposal.sessionId ?? '', { ...proposal.change, target: proposal.target }))
    await mirror(notice);
}
