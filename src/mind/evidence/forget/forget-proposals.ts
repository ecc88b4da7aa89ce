// Owns taking what went out of proposals, their citations and verdicts (state.db). Knows no file and no message.
// Invariants: inside the caller's transaction; a proposal stays as a fact (who, what kind, when, what came of it), its words go; one
// that waited for the owner waits no longer, since nothing is left to say yes to.

import type { Database } from '#base/database/connection.ts';
import { canonicalJson, type JsonObject, parseJsonObject } from '#base/json.ts';
import { someStoredText } from '#mind/sessions/forget/json-texts.ts';
import { FORGOTTEN } from '#mind/sessions/forget/sweep-text.ts';

export interface ProposalsToForget {
  readonly messageIds: ReadonlySet<number>;
  /** Sessions that go as a whole. */
  readonly sessionIds: ReadonlySet<string>;
  /** Proposals of conversations made before this moment, epoch ms. */
  readonly before?: number;
  readonly holds?: (text: string) => boolean;
}

export interface ForgottenProposals {
  readonly quotes: number;
  readonly proposals: number;
  readonly verdicts: number;
  /** Those that waited; whatever lies in `pending` under their ids goes too. */
  readonly pending: readonly string[];
}

interface Row {
  readonly key: number;
  readonly id: string;
  readonly status: string;
  readonly change: string;
  readonly detail: string | null;
  readonly undo: string | null;
  readonly session_id: string | null;
  readonly created_at: number;
}

interface CitationRow {
  readonly proposal: number;
  readonly position: number;
  readonly message_id: number | null;
  readonly quote: string;
}

export function forgetProposals(database: Database, what: ProposalsToForget): ForgottenProposals {
  const touched = new Set<number>();
  let quotes = 0;
  for (const row of database.all<CitationRow>('SELECT proposal, position, message_id, quote FROM citations')) {
    const isGone = row.message_id !== null && what.messageIds.has(row.message_id);
    if (!isGone && !what.holds?.(row.quote)) continue;
    touched.add(row.proposal);
    quotes += clearQuote(database, row);
  }
  const rows = database
    .all<Row>('SELECT key, id, status, change, detail, undo, session_id, created_at FROM proposals')
    .filter((row) => touched.has(row.key) || isMeant(row, what));
  for (const row of rows) clearProposal(database, row);
  const verdicts = forgetVerdicts(database, rows, what.holds);
  const pending = rows.filter(({ status }) => status === 'pending' || status === 'proposed');
  return { quotes, proposals: rows.length, verdicts, pending: pending.map(({ id }) => id) };
}

function clearQuote(database: Database, { proposal, position }: CitationRow): number {
  return database.run(
    'UPDATE citations SET quote = ? WHERE proposal = ? AND position = ?',
    FORGOTTEN,
    proposal,
    position,
  ).changes;
}

function isMeant(row: Row, { sessionIds, before, holds }: ProposalsToForget): boolean {
  if (row.session_id !== null && sessionIds.has(row.session_id)) return true;
  if (row.session_id !== null && before !== undefined && row.created_at < before) return true;
  return (
    holds !== undefined &&
    [row.change, row.detail ?? '', row.undo ?? ''].some((text) => someStoredText(text, KEPT, holds))
  );
}

function clearProposal(database: Database, row: Row): void {
  const waits = row.status === 'pending' || row.status === 'proposed';
  database.run(
    `UPDATE proposals SET change = ?, detail = NULL, undo = NULL, status = ?, reason = CASE WHEN ?2 = status THEN reason ELSE 'forgotten' END
     WHERE key = ?`,
    canonicalJson(emptied(row.change)),
    waits ? 'dropped' : row.status,
    row.key,
  );
}

/** Those of other subjects, as of answers, go by their words alone. */
function forgetVerdicts(database: Database, rows: readonly Row[], holds: ProposalsToForget['holds']): number {
  const ids = new Set(rows.map(({ id }) => id));
  const gone = database
    .all<{ key: number; subject: string; claim: string; why: string }>('SELECT key, subject, claim, why FROM verdicts')
    .filter(({ subject, claim, why }) => ids.has(subject) || holds?.(claim) || holds?.(why));
  for (const { key } of gone) database.run('DELETE FROM verdicts WHERE key = ?', key);
  return gone.length;
}

/** Names of things are no content. */
const KEPT: ReadonlySet<string> = new Set(['action', 'target', 'name', 'category', 'source', 'file_path']);

function emptied(change: string): JsonObject {
  const parsed = parseJsonObject(change);
  const kept = Object.entries(parsed.ok ? parsed.value : {}).filter(([key]) => KEPT.has(key));
  return { ...Object.fromEntries(kept), forgotten: true };
}
