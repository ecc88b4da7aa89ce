// Owns the files of `pending/{memory,skills}/<id>.json` (notes core 2.1): what waits, readable without us; and whether the very same change
// waits already, whichever SKILL.md it was made for. The ledger's row decides; a file is its copy.
// Invariant: written whole, 0600; a missing or foreign file changes nothing.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { isoTime } from '#base/clock.ts';
import { canonicalJson, type JsonObject } from '#base/json.ts';
import { privateFolder } from '#base/platform.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Proposal, ProposalDraft, ProposalLedger } from '../proposal.ts';
import type { KeptDraft } from './foreground-gate.ts';

export interface PendingFiles {
  put(proposal: Proposal): void;
  drop(proposal: Proposal): void;
}

export function createPendingFiles(root: string): PendingFiles {
  const folderOf = ({ kind }: Proposal) => join(root, kind === 'memory' ? 'memory' : 'skills');
  const pathOf = (proposal: Proposal) => join(folderOf(proposal), `${proposal.id}.json`);
  return {
    put(proposal) {
      const { id, kind, actor, target, action, change, sessionId, citations, reason, detail, createdAt } = proposal;
      const shown = { id, kind, actor, target, action, change, citations, reason, detail, session_id: sessionId };
      privateFolder(root);
      privateFolder(folderOf(proposal));
      atomicWrite(pathOf(proposal), `${JSON.stringify({ ...shown, created_at: isoTime(createdAt) }, null, 2)}\n`);
    },
    drop: (proposal) => rmSync(pathOf(proposal), { force: true }),
  };
}

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

const SECRET = { reason: 'secret', detail: 'It holds a secret. Name an environment variable instead.' } as const;

/** What becomes of a change that the owner must decide while nobody can be asked: the same one waits once, and what had to be altered to be stored does not. */
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
