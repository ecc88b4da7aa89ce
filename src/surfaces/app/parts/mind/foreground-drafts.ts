// Owns what becomes of a skill change that the owner must decide while nobody can be asked: it waits, as what a review drafts does.
// Knows no tool. Invariant: the ledger's row decides, its file in `pending/` is a copy.
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import { createPendingFiles } from '#mind/learning/keep/pending-files.ts';
import { argumentsOf } from '#mind/skills/door/change-arguments.ts';
import type { SkillWrite } from '#mind/skills/skill-door.ts';

/** Gives the id under which it waits. */
export function createForegroundDrafts(ledger: ProposalLedger, folder: string): (write: SkillWrite) => Promise<string> {
  const files = createPendingFiles(folder);
  return async ({ name, change, actor, sessionId, citations = [], expectedHash }) => {
    const { id } = await ledger.open({
      kind: 'skill',
      actor,
      target: name,
      action: change.action,
      change: { name, ...argumentsOf(change), ...(expectedHash === undefined ? {} : { expected_hash: expectedHash }) },
      ...(sessionId === undefined ? {} : { sessionId }),
      citations,
    });
    await ledger.decide(id, { status: 'pending', reason: 'needs-owner' });
    const waiting = ledger.get(id);
    if (waiting) files.put(waiting);
    return id;
  };
}
