// Owns the way of a proposal into its rows and back. Knows no status rule. Invariant: what is read back equals what was stored.
import type { Database } from '#base/database/connection.ts';
import { TalariaError } from '#base/errors.ts';
import { canonicalJson, type JsonObject, parseJsonObject } from '#base/json.ts';
import { messageIdOf } from './message-handle.ts';
import type { Actor, Proposal, ProposalDraft, ProposalKind, ProposalStatus } from './proposal.ts';
import type { Citation } from './trace-guard/claim.ts';

export interface ProposalRow {
  readonly key: number;
  readonly id: string;
  readonly kind: ProposalKind;
  readonly actor: Actor;
  readonly target: string;
  readonly action: string;
  readonly change: string;
  readonly session_id: string | null;
  readonly status: ProposalStatus;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly path: string | null;
  readonly before_hash: string | null;
  readonly after_hash: string | null;
  readonly undo: string | null;
  /** `<pid> <host>` of who began the write. */
  readonly writer: string | null;
  readonly begun_at: number | null;
  readonly created_at: number;
  readonly decided_at: number | null;
}

/** Inside a transaction; the draft is redacted already. */
export function insertProposal(database: Database, id: string, draft: ProposalDraft, at: number): void {
  const { id: key } = database.run(
    `INSERT INTO proposals(id, kind, actor, target, action, change, session_id, status, created_at)
     VALUES(?, ?, ?, ?, ?, ?, ?, 'proposed', ?)`,
    id,
    draft.kind,
    draft.actor,
    draft.target.toWellFormed(),
    draft.action.toWellFormed(),
    canonicalJson(draft.change),
    draft.sessionId?.toWellFormed() ?? null,
    at,
  );
  draft.citations.forEach(({ handle, quote }, position) => {
    database.run(
      'INSERT INTO citations(proposal, position, handle, message_id, quote) VALUES(?, ?, ?, ?, ?)',
      key,
      position,
      handle.toWellFormed(),
      messageIdOf(handle) ?? null,
      quote.toWellFormed(),
    );
  });
}

export function findProposalRow(database: Database, id: string): ProposalRow | undefined {
  return database.get<ProposalRow>('SELECT * FROM proposals WHERE id = ?', id.toWellFormed());
}

export function readProposal(database: Database, row: ProposalRow): Proposal {
  const change = readObject(row.id, row.change);
  const citations = database.all<Citation>(
    'SELECT handle, quote FROM citations WHERE proposal = ? ORDER BY position',
    row.key,
  );
  return {
    id: row.id,
    kind: row.kind,
    actor: row.actor,
    target: row.target,
    action: row.action,
    change,
    ...(row.session_id === null ? {} : { sessionId: row.session_id }),
    citations: citations.map(({ handle, quote }) => ({ handle, quote })),
    status: row.status,
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.detail === null ? {} : { detail: row.detail }),
    ...(row.path === null ? {} : { path: row.path, beforeHash: row.before_hash, afterHash: row.after_hash }),
    ...(row.undo === null ? {} : { undo: readObject(row.id, row.undo) }),
    createdAt: row.created_at,
    ...(row.decided_at === null ? {} : { decidedAt: row.decided_at }),
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
