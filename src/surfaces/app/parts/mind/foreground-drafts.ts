// Owns what becomes of a change that the owner must decide while nobody can be asked: it waits, as what a review drafts does; and who can
// be asked. Knows no tool. Invariants: the ledger's row decides, its file in `pending/` is a copy; the same change waits once; what had to
// be altered to be stored does not wait.
import { canonicalJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { ForegroundGate, KeptDraft } from '#mind/evidence/gate/foreground-gate.ts';
import type { ProposalDraft, ProposalLedger } from '#mind/evidence/proposal.ts';
import { findWaiting } from '#mind/learning/keep/find-waiting.ts';
import { createPendingFiles } from '#mind/learning/keep/pending-files.ts';
import { sessionMessages } from '#mind/sessions/find-message.ts';
import { argumentsOf } from '#mind/skills/door/change-arguments.ts';
import type { SkillWrite } from '#mind/skills/skill-door.ts';
import type { ComposedMind } from './compose-mind.ts';

export interface ForegroundGround {
  readonly mind: Pick<ComposedMind, 'ledger' | 'store'>;
  /** Folder of what waits. */
  readonly pending: string;
  /** Does a person answer in this session, and is he asked? */
  readonly isAsked: (sessionId: string) => boolean;
}

export function createForegroundGate({ mind, pending, isAsked }: ForegroundGround): ForegroundGate {
  return {
    say: (sessionId) => (isAsked(sessionId) ? 'ask' : 'draft'),
    messagesOf: (sessionId) => sessionMessages(mind.store.database, sessionId),
    draft: (draft) => keepDraft(mind.ledger, pending, draft),
  };
}

export function skillDraft({ name, change, actor, sessionId, citations = [] }: SkillWrite): ProposalDraft {
  const whose = { actor, citations, ...(sessionId === undefined ? {} : { sessionId }) };
  return { kind: 'skill', target: name, action: change.action, change: { name, ...argumentsOf(change) }, ...whose };
}

const SECRET = { reason: 'secret', detail: 'It holds a secret. Name an environment variable instead.' } as const;

export async function keepDraft(
  ledger: ProposalLedger,
  folder: string,
  draft: ProposalDraft,
): Promise<Result<KeptDraft, 'secret'>> {
  const known = findWaiting(ledger, draft);
  if (known) return ok({ id: known.id, isKnown: true });
  const { id, change: stored } = await ledger.open(draft);
  if (canonicalJson(stored) !== canonicalJson(draft.change)) {
    await ledger.decide(id, { status: 'refused', ...SECRET });
    return refuse(SECRET.reason, SECRET.detail);
  }
  await ledger.decide(id, { status: 'pending', reason: 'needs-owner' });
  const waiting = ledger.get(id);
  if (waiting) createPendingFiles(folder).put(waiting);
  return ok({ id, isKnown: false });
}
