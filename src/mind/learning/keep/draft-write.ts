// Owns keeping a foreground change of a skill as a draft, where nobody can answer now: what `skill_manage` does on unattended surfaces.
// Knows no tool. Invariant: it waits like any other change, with what it rests on.
import type { JsonObject } from '#base/json.ts';
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import type { Citation } from '#mind/evidence/trace-guard/claim.ts';
import { argumentsOf } from '#mind/skills/door/change-arguments.ts';
import type { SkillWrite } from '#mind/skills/skill-door.ts';
import type { PendingFiles } from './pending-files.ts';

export interface DraftParts {
  readonly ledger: ProposalLedger;
  readonly pending: PendingFiles;
  readonly citationsOf: (sessionId: string) => readonly Citation[];
}

/** Gives the id of the pending proposal. */
export async function draftWrite({ ledger, pending, citationsOf }: DraftParts, write: SkillWrite): Promise<string> {
  const { name, actor, sessionId, expectedHash } = write;
  const change: JsonObject = {
    name,
    ...argumentsOf(write.change),
    ...(expectedHash ? { expected_hash: expectedHash } : {}),
  };
  const { id } = await ledger.open({
    kind: 'skill',
    actor,
    target: name,
    action: write.change.action,
    change,
    citations: write.citations ?? (sessionId === undefined ? [] : citationsOf(sessionId)),
    ...(sessionId === undefined ? {} : { sessionId }),
  });
  await ledger.decide(id, { status: 'pending', reason: 'needs-owner' });
  const waiting = ledger.get(id);
  if (waiting) pending.put(waiting);
  return id;
}
