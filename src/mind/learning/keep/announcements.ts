// Owns what is said to the owner about writes of reviews and flushes: once each, by whichever process comes to it first, also after a
// restart; and which writes an `/undo` means. Reads the ledger; keeps rows of what was said. Knows no door.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { Actor, Proposal, ProposalLedger } from '#mind/evidence/proposal.ts';
import { doneLine, heldLine } from './describe-change.ts';

export interface Announcements {
  /** Lines not said yet, oldest first; those of other sessions stay when one is named. */
  take(sessionId?: string): readonly string[];
  /** The owner knows of it already: it was kept by a yes. */
  told(id: string): void;
  /** Writes that stand and were not taken back here, newest first. */
  undoable(sessionId?: string): readonly Proposal[];
  undone(id: string): void;
}

export interface AnnouncementParts {
  readonly ledger: ProposalLedger;
  readonly database: Database;
  readonly clock: Clock;
}

/** Who writes while nobody looks on. */
const UNSEEN: readonly Actor[] = ['review', 'flush'];
/** What is older than this is no news. */
const NEWS_MS = 7 * 86_400_000;
const LOOKED_AT = 30;

export function createAnnouncements({ ledger, database, clock }: AnnouncementParts): Announcements {
  const said = new Set<string>();
  const undone = new Set<string>();
  const recent = (status: 'applied' | 'pending', sessionId: string | undefined): readonly Proposal[] => {
    const session = sessionId === undefined ? {} : { sessionId };
    const found = UNSEEN.flatMap((actor) => ledger.list({ status, actor, limit: LOOKED_AT, ...session }));
    return found.toSorted((a, b) => timeOf(b) - timeOf(a));
  };
  const isNews = (proposal: Proposal): boolean =>
    clock.now() - timeOf(proposal) < NEWS_MS &&
    !said.has(proposal.id) &&
    database.get('SELECT 1 FROM announced WHERE proposal = ?', proposal.id) === undefined;
  const told = (id: string): void => {
    said.add(id);
    // While another process writes it is left out: at worst it is said once more after a restart.
    database.tryRun('INSERT OR IGNORE INTO announced(proposal, at) VALUES(?, ?)', id, clock.now());
  };
  return {
    take(sessionId) {
      const done = recent('applied', sessionId).filter(isNews).toReversed();
      const held = recent('pending', sessionId)
        .filter((one) => one.reason !== 'needs-owner' && isNews(one))
        .toReversed();
      for (const { id } of [...done, ...held]) told(id);
      return [...done.map((one) => `${doneLine(one)} · /undo takes it back`), ...held.map(heldLine)];
    },
    told,
    undoable: (sessionId) => recent('applied', sessionId).filter(({ id }) => !undone.has(id)),
    undone: (id) => void undone.add(id),
  };
}

function timeOf({ decidedAt, createdAt }: Proposal): number {
  return decidedAt ?? createdAt;
}
