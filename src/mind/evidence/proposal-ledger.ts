// Owns the ProposalLedger on state.db: what anybody wanted to keep, what came of it, and where a kept thing comes from (design 2).
// Knows no file and no gate. Invariants: a promise resolves after the durable commit; no key-shaped string is stored; a write that
// another living process has in hand is left to it.
import { type Clock, systemClock } from '#base/clock.ts';
import type { Database, SqlValue } from '#base/database/connection.ts';
import { TalariaError } from '#base/errors.ts';
import { newId } from '#base/ids.ts';
import { canonicalJson, type JsonObject, parseJsonObject } from '#base/json.ts';
import { holderName, holderState } from '#base/process/holder.ts';
import { redactSecrets } from '#base/secrets.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import { filled, type RowOf } from '#mind/sessions/session-rows.ts';
import { findMessage } from '#mind/sessions/told-messages.ts';
import { messageIdOf, showCitation } from './citations.ts';
import {
  checkBegin,
  checkDecision,
  type Decision,
  type KeptThing,
  needProposal,
  outcomeByHash,
  type Proposal,
  type ProposalDraft,
  type ProposalLedger,
  type Provenance,
  type WriteHashes,
} from './proposal.ts';
import { verdictsOf } from './proposal-schema.ts';
import { type Redact, redactObject } from './redact-json.ts';
import type { Citation } from './trace-guard/claim.ts';

export interface ProposalLedgerOptions {
  /** state.db, opened with `evidenceSchema` among its rooms. */
  readonly database: Database;
  readonly clock?: Clock;
  /** Default: key-shaped strings. */
  readonly redact?: Redact;
}

export function createProposalLedger(options: ProposalLedgerOptions): ProposalLedger {
  return new SqliteProposalLedger(options);
}

/** A write takes moments: after this long its process number belongs to somebody else. */
const WRITE_MS = 600_000;

class SqliteProposalLedger implements ProposalLedger {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #redact: Redact;

  constructor({ database, clock, redact }: ProposalLedgerOptions) {
    this.#database = database;
    this.#clock = clock ?? systemClock;
    this.#redact = redact ?? redactSecrets;
  }

  async open(draft: ProposalDraft): Promise<Proposal> {
    const id = newId('prop');
    const at = this.#clock.now();
    const clean = cleanDraft(draft, this.#redact);
    return this.#database.transaction(() => {
      insertProposal(this.#database, id, clean, at);
      return this.#read(this.#need(id));
    });
  }

  async begin(id: string, { path, beforeHash, afterHash, undo }: WriteHashes): Promise<void> {
    const back = undo === undefined ? null : canonicalJson(redactObject(undo, this.#redact));
    const writer = holderName();
    await this.#database.transaction(() => {
      checkBegin(this.#read(this.#need(id)));
      this.#database.run(
        `UPDATE proposals SET status = 'writing', path = ?, before_hash = ?, after_hash = ?, undo = ?, writer = ?, begun_at = ?,
           reason = NULL, detail = NULL, decided_at = NULL WHERE id = ?`,
        ...[path.toWellFormed(), beforeHash, afterHash, back, writer, this.#clock.now(), id],
      );
    });
  }

  async decide(id: string, decision: Decision): Promise<void> {
    const clean = cleanDecision(decision, this.#redact);
    await this.#database.transaction(() => this.#decide(id, clean));
  }

  async attach({ kind, target, key }: KeptThing, proposalId: string): Promise<void> {
    await this.#database.transaction(() => {
      const proposal = this.#need(proposalId);
      this.#database.run(
        'INSERT OR IGNORE INTO provenance(kind, target, thing, proposal, at) VALUES(?, ?, ?, ?, ?)',
        ...[kind, target.toWellFormed(), key.toWellFormed(), proposal.key, this.#clock.now()],
      );
    });
  }

  get(id: string): Proposal | undefined {
    const row = findProposalRow(this.#database, id);
    return row && this.#read(row);
  }

  list(filter: Parameters<ProposalLedger['list']>[0] = {}): readonly Proposal[] {
    const wanted = { status: filter.status, kind: filter.kind, actor: filter.actor, session_id: filter.sessionId };
    const given = Object.entries(wanted).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const where = given.length === 0 ? '' : `WHERE ${given.map(([column]) => `${column} = ?`).join(' AND ')}`;
    const values: readonly SqlValue[] = given.map(([, value]) => value.toWellFormed());
    const limit = filter.limit === undefined ? -1 : Math.max(0, Math.trunc(filter.limit));
    return this.#database
      .all<ProposalRow>(`${SELECT} ${where} ORDER BY key DESC LIMIT ?`, ...values, limit)
      .map((row) => this.#read(row));
  }

  why({ kind, target, key }: KeptThing): readonly Provenance[] {
    const rows = this.#database.all<ProposalRow>(
      `${SELECT} JOIN provenance v ON p.key = v.proposal
       WHERE v.kind = ? AND v.target = ? AND v.thing = ? ORDER BY v.key DESC`,
      kind,
      target.toWellFormed(),
      key.toWellFormed(),
    );
    return rows.map((row) => {
      const proposal = this.#read(row);
      const citations = proposal.citations.map((one) => showCitation(one, this.#message(one.handle)));
      return { proposal, citations, verdicts: verdictsOf(this.#database, proposal.id) };
    });
  }

  async reconcile(hashOf: (path: string) => string | null): Promise<readonly Proposal[]> {
    return this.#database.transaction(() => {
      const rows = this.#database.all<ProposalRow>(`${SELECT} WHERE status = 'writing' ORDER BY key`);
      const ours = rows.filter((row) => !isInOtherHands(row, this.#clock.now()));
      return ours.map((row) => {
        const found = row.path === null ? null : hashOf(row.path);
        const status = outcomeByHash(row, found);
        return this.#decide(row.id, status === 'edited' ? { status, reason: 'edited-by-hand' } : { status });
      });
    });
  }

  #decide(id: string, { status, reason, detail }: Decision): Proposal {
    const proposal = this.#read(this.#need(id));
    if (!checkDecision(proposal, { status, ...(reason ? { reason } : {}), ...(detail ? { detail } : {}) }))
      return proposal;
    this.#database.run(
      'UPDATE proposals SET status = ?, reason = ?, detail = ?, decided_at = ? WHERE id = ?',
      ...[status, reason ?? null, detail ?? null, this.#clock.now(), id],
    );
    return this.#read(this.#need(id));
  }

  #message(handle: string): StoredMessage | undefined {
    const id = messageIdOf(handle);
    return id === undefined ? undefined : findMessage(this.#database, id);
  }

  #need(id: string): ProposalRow {
    return needProposal(findProposalRow(this.#database, id), id);
  }

  #read(row: ProposalRow): Proposal {
    return readProposal(this.#database, row);
  }
}

function cleanDraft(draft: ProposalDraft, redact: Redact): ProposalDraft {
  const citations = draft.citations.map(({ handle, quote }) => ({ handle, quote: redact(quote) }));
  return { ...draft, change: redactObject(draft.change, redact), citations };
}

function cleanDecision({ status, reason, detail }: Decision, redact: Redact): Decision {
  return {
    status,
    ...(reason === undefined ? {} : { reason: reason.toWellFormed() }),
    ...(detail === undefined ? {} : { detail: redact(detail).toWellFormed() }),
  };
}

function isInOtherHands({ writer, begunAt }: ProposalRow, now: number): boolean {
  if (writer === null || writer === holderName()) return false;
  return Math.abs(now - (begunAt ?? 0)) < WRITE_MS && holderState(writer) === 'alive';
}

// The way of a proposal into its rows and back. Knows no status rule. Invariant: what is read back equals what was stored.

type Json = 'change' | 'undo';
/** What of it its own row holds. */
type Columns = Omit<Proposal, Json | 'citations'> & { readonly change: string; readonly undo?: string };
type ProposalRow = RowOf<Columns> & {
  readonly key: number;
  /** `<pid> <host>` of who began the write. */
  readonly writer: string | null;
  readonly begunAt: number | null;
};

const COLUMNS = [
  'p.key, p.id, p.kind, p.actor, p.target, p.action, p.change, p.session_id AS sessionId, p.status, p.reason, p.detail',
  'p.path, p.before_hash AS beforeHash, p.after_hash AS afterHash, p.undo, p.writer, p.begun_at AS begunAt',
  'p.created_at AS createdAt, p.decided_at AS decidedAt',
];
const SELECT = `SELECT ${COLUMNS.join(', ')} FROM proposals p`;

/** Inside a transaction; the draft is redacted already. */
export function insertProposal(database: Database, id: string, draft: ProposalDraft, at: number): void {
  const { kind, actor, target, action, change, sessionId, citations } = draft;
  const { id: key } = database.run(
    `INSERT INTO proposals(id, kind, actor, target, action, change, session_id, status, created_at)
     VALUES(?, ?, ?, ?, ?, ?, ?, 'proposed', ?)`,
    ...[id, kind, actor, target.toWellFormed(), action.toWellFormed(), canonicalJson(change)],
    ...[sessionId?.toWellFormed() ?? null, at],
  );
  citations.forEach(({ handle, quote }, position) => {
    database.run(
      'INSERT INTO citations(proposal, position, handle, message_id, quote) VALUES(?, ?, ?, ?, ?)',
      ...[key, position, handle.toWellFormed(), messageIdOf(handle) ?? null, quote.toWellFormed()],
    );
  });
}

function findProposalRow(database: Database, id: string): ProposalRow | undefined {
  return database.get<ProposalRow>(`${SELECT} WHERE id = ?`, id.toWellFormed());
}

function readProposal(database: Database, { key, writer: _writer, begunAt: _begun, ...row }: ProposalRow): Proposal {
  const { change, undo, ...columns } = filled<Columns>(row);
  const citations = database.all<Citation>(
    'SELECT handle, quote FROM citations WHERE proposal = ? ORDER BY position',
    key,
  );
  return {
    ...columns,
    change: readObject(row.id, change),
    citations: citations.map(({ handle, quote }) => ({ handle, quote })),
    ...(row.path === null ? {} : { beforeHash: row.beforeHash, afterHash: row.afterHash }),
    ...(undo === undefined ? {} : { undo: readObject(row.id, undo) }),
  };
}

function readObject(id: string, text: string): JsonObject {
  const read = parseJsonObject(text);
  if (read.ok) return read.value;
  throw new TalariaError(`proposal ${id} cannot be read: ${read.detail}`, {
    code: 'database-corrupt',
    fix: 'Run `talaria doctor`.',
  });
}
