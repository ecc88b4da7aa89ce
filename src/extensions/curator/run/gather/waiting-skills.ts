// Owns which skills have a write of the curator that waits for the owner's word. Knows proposals by the ledger. Invariant: reads only; a
// skill that waits is not asked about again, so that a bad line of evidence is one question to the owner and not one for each run.
import type { Database } from '#base/database/connection.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import type { AutoRunRequest } from '../../plan/auto-run-request.ts';
import { refusedSkill } from './gather-skills.ts';

const MOST = 1_000;

/** The request with those skills refused as the guard refused them. */
export function withoutWaiting(request: AutoRunRequest, state: Database): AutoRunRequest {
  const pending = createProposalLedger({ database: state }).list({
    ...{ status: 'pending', kind: 'skill', actor: 'curator', limit: MOST },
  });
  const names = new Set(pending.map(({ target }) => target));
  if (names.size === 0) return request;
  const skills = request.skills.map((skill) => (names.has(skill.name) ? refusedSkill(skill, 'guard-asks') : skill));
  return { ...request, skills };
}
