// Owns what becomes of a skill change that the owner must decide while nobody can be asked: it waits, as what a review drafts does.
// Knows no tool. Invariants: the ledger's row decides, its file in `pending/` is a copy; the same change waits once; what had to be
// altered to be stored does not wait.
import { canonicalJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import { findWaiting } from '#mind/learning/keep/find-waiting.ts';
import { createPendingFiles } from '#mind/learning/keep/pending-files.ts';
import { argumentsOf } from '#mind/skills/door/change-arguments.ts';
import type { SkillWrite } from '#mind/skills/skill-door.ts';
import type { KeptDraft } from '#mind/skills/tools/skill-manage-tool.ts';

const SECRET = { reason: 'secret', detail: 'It holds a secret. Name an environment variable instead.' } as const;

export function createForegroundDrafts(
  ledger: ProposalLedger,
  folder: string,
): (write: SkillWrite) => Promise<Result<KeptDraft, 'secret'>> {
  const files = createPendingFiles(folder);
  return async ({ name, change, actor, sessionId, citations = [] }) => {
    const draft = { target: name, action: change.action, change: { name, ...argumentsOf(change) } };
    const known = findWaiting(ledger, draft);
    if (known) return ok({ id: known.id, isKnown: true });
    const whose = { kind: 'skill', actor, citations, ...(sessionId === undefined ? {} : { sessionId }) } as const;
    const { id, change: stored } = await ledger.open({ ...draft, ...whose });
    if (canonicalJson(stored) !== canonicalJson(draft.change)) {
      await ledger.decide(id, { status: 'refused', ...SECRET });
      return refuse(SECRET.reason, SECRET.detail);
    }
    await ledger.decide(id, { status: 'pending', reason: 'needs-owner' });
    const waiting = ledger.get(id);
    if (waiting) files.put(waiting);
    return ok({ id, isKnown: false });
  };
}
