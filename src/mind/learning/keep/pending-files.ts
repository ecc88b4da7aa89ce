// Owns the files of `pending/{memory,skills}/<id>.json` (notes core 2.1): what waits, readable without us. The ledger's row decides;
// a file is its copy. Invariant: written whole, 0600; a missing or foreign file changes nothing.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { isoTime } from '#base/clock.ts';
import { privateFolder } from '#base/platform.ts';
import type { Proposal } from '#mind/evidence/proposal.ts';

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
