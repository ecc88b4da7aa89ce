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
  /**
   * Writes that an undo may mean, the likeliest first: what the owner heard of here or what this session brought, newest first; then
   * what was heard of in other chats, and what the agent itself wrote there lately.
   */
  undoable(sessionId?: string): readonly KnownWrite[];
  /** Is never meant again, also after a restart. */
  undone(id: string): void;
}

export interface KnownWrite {
  readonly proposal: Proposal;
  /** When the owner came to know of it, epoch ms, as far as is known. */
  readonly at: number;
  /** Heard of here, or brought by this session. */
  readonly isHere: boolean;
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

export function createAnnouncements(parts: AnnouncementParts): Announcements {
  return new SaidWrites(parts);
}

class SaidWrites implements Announcements {
  readonly #parts: AnnouncementParts;
  /** What was told by this process, and when. */
  readonly #said = new Map<string, number>();
  readonly #undone = new Set<string>();

  constructor(parts: AnnouncementParts) {
    this.#parts = parts;
  }

  take(sessionId?: string): readonly string[] {
    const done = this.#recent('applied', sessionId).filter((one) => this.#isNews(one));
    const held = this.#recent('pending', sessionId).filter((one) => one.reason !== 'needs-owner' && this.#isNews(one));
    const lines = [
      ...done.toReversed().map((one) => `${doneLine(one)} · /undo takes it back`),
      ...held.slice(0, LOOKED_AT).toReversed().map(heldLine),
      ...(held.length > LOOKED_AT ? [`… and ${held.length - LOOKED_AT} more wait · talaria pending list`] : []),
    ];
    for (const { id } of [...done.toReversed(), ...held.toReversed()]) this.told(id);
    return lines;
  }

  told(id: string): void {
    const { database, clock } = this.#parts;
    this.#said.set(id, clock.now());
    // While another process writes it is left out: at worst it is said once more after a restart.
    database.tryRun('INSERT OR IGNORE INTO announced(proposal, at) VALUES(?, ?)', id, clock.now());
  }

  undoable(sessionId?: string): readonly KnownWrite[] {
    const isHere = ({ id, sessionId: own }: Proposal) =>
      this.#said.has(id) || (sessionId !== undefined && own === sessionId);
    const known = [...this.#knownWrites(sessionId)].filter(([{ id }]) => !this.#isUndone(id));
    const found = known
      .toSorted(([, a], [, b]) => b - a)
      .map(([proposal, at]) => ({ proposal, at, isHere: isHere(proposal) }));
    return [...found.filter((one) => one.isHere), ...found.filter((one) => !one.isHere)];
  }

  undone(id: string): void {
    const { database, clock } = this.#parts;
    this.#undone.add(id);
    database.tryRun('INSERT OR IGNORE INTO taken_back(proposal, at) VALUES(?, ?)', id, clock.now());
  }

  /** Each with the time at which the owner came to know of it, as far as is known. */
  *#knownWrites(sessionId: string | undefined): Generator<readonly [Proposal, number]> {
    const { ledger, database, clock } = this.#parts;
    const rows = database.all<{ proposal: string; at: number }>(
      'SELECT proposal, at FROM announced ORDER BY at DESC LIMIT ?',
      LOOKED_AT,
    );
    const heard = new Map([...rows.map(({ proposal, at }) => [proposal, at] as const), ...this.#said]);
    for (const [id, at] of [...heard].toReversed()) {
      const proposal = ledger.get(id);
      if (proposal?.status === 'applied') yield [proposal, Math.max(at, timeOf(proposal))];
    }
    const unheard = sessionId === undefined ? [] : this.#recent('applied', sessionId);
    const own = ledger.list({ status: 'applied', actor: 'agent', limit: LOOKED_AT });
    const late = own.filter((one) => one.sessionId === sessionId || clock.now() - timeOf(one) < NEWS_MS);
    for (const proposal of [...unheard, ...late]) if (!heard.has(proposal.id)) yield [proposal, timeOf(proposal)];
  }

  #recent(status: 'applied' | 'pending', sessionId: string | undefined): readonly Proposal[] {
    // All that waits, since what is not said is counted.
    const some = {
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(status === 'applied' && { limit: LOOKED_AT }),
    };
    const found = UNSEEN.flatMap((actor) => this.#parts.ledger.list({ status, actor, ...some }));
    return found.toSorted((a, b) => timeOf(b) - timeOf(a));
  }

  #isNews(proposal: Proposal): boolean {
    const { clock, database } = this.#parts;
    return (
      clock.now() - timeOf(proposal) < NEWS_MS &&
      !this.#said.has(proposal.id) &&
      database.get('SELECT 1 FROM announced WHERE proposal = ?', proposal.id) === undefined
    );
  }

  #isUndone(id: string): boolean {
    return (
      this.#undone.has(id) || this.#parts.database.get('SELECT 1 FROM taken_back WHERE proposal = ?', id) !== undefined
    );
  }
}

function timeOf({ decidedAt, createdAt }: Proposal): number {
  return decidedAt ?? createdAt;
}
