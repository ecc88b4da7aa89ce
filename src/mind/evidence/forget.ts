// Owns taking events out of the ledger, `evidence.sqlite` (curator notes 2). Knows its tables by their columns only: whatever has a
// session is an event of it, whatever has a time came from one (candidates for review). Invariant: inside the caller's transaction; a row goes whole, since every row can be made again or missed.
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Clock, isoTime } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { canonicalJson, type JsonObject, parseJsonObject } from '#base/json.ts';
import type { Forgets, Forgot, Places } from '#core/agent/room.ts';
import {
  eraseFreed,
  FORGOTTEN,
  filesBelow,
  filesHolding,
  removeFiles,
  someStoredText,
} from '#mind/sessions/sweep-text.ts';

interface Ledgers {
  readonly state: Database;
  /** Opened when asked for. */
  readonly events: () => Database;
  readonly clock: Clock;
  readonly places: Pick<Places, 'evidenceDatabase' | 'pending'>;
}

/** What the room keeps: events, proposals, and what waits in files for the owner's yes. */
export async function forgetEvidence(ledgers: Ledgers, what: Forgets): Promise<readonly Forgot[]> {
  const { state, places } = ledgers;
  const { holds, before, text } = what;
  const rest = { ...(holds ? { holds } : {}), ...(before === undefined ? {} : { before }) };
  const sessionIds = new Set(what.sessions.filter(({ whole }) => whole).map(({ id }) => id));
  const events = await forgetLedger(ledgers, { sessionIds, ...rest });
  const messageIds = new Set(what.sessions.flatMap(({ messages }) => messages.map(({ id }) => id)));
  state.exec('PRAGMA secure_delete = ON');
  const gone = await state.transaction(() => forgetProposals(state, { messageIds, sessionIds, ...rest }));
  const named = [...filesBelow(places.pending)].filter((path) =>
    gone.pending.some((id) => basename(path).includes(id)),
  );
  const holding = text === undefined ? [] : filesHolding(places.pending, text);
  const files = removeFiles([...named.map((path) => join(places.pending, path)), ...holding]);
  const { quotes, proposals, verdicts } = gone;
  const counts = Object.entries({ quotes, proposals, verdicts, files }).map(([name, count]) => ({ name, count }));
  return [...counts, events];
}

async function forgetLedger({ events, clock, places }: Ledgers, what: EventsToForget): Promise<Forgot> {
  if (!existsSync(places.evidenceDatabase)) return { name: 'events', count: 0 };
  const database = events();
  database.exec('PRAGMA secure_delete = ON');
  const count = await database.transaction(() => forgetEvents(database, what));
  const isBusy = count > 0 && (await eraseFreed(database, clock)) === 'busy';
  return { name: 'events', count, busy: isBusy ? [places.evidenceDatabase] : [] };
}

export interface EventsToForget {
  readonly sessionIds: ReadonlySet<string>;
  /** Epoch ms. */
  readonly before?: number;
  readonly holds?: (text: string) => boolean;
}

/** Gives the number of rows that went. */
export function forgetEvents(database: Database, what: EventsToForget): number {
  const tables = database.all<{ name: string }>(
    `SELECT t.name FROM pragma_table_list AS t WHERE t.schema = 'main' AND t.type = 'table'
     AND EXISTS(SELECT 1 FROM pragma_table_info(t.name) WHERE name IN ('session_id', 'created_at'))`,
  );
  return tables.reduce((sum, { name }) => sum + forgetRows(database, name, what), 0);
}

function forgetRows(database: Database, table: string, { sessionIds, before, holds }: EventsToForget): number {
  const from = `"${table.replaceAll('"', '""')}"`;
  const isEvent = hasColumn(database, table, 'session_id');
  const ids = JSON.stringify([...sessionIds]);
  let gone = isEvent
    ? database.run(`DELETE FROM ${from} WHERE session_id IN (SELECT value FROM json_each(?))`, ids).changes
    : 0;
  if (before !== undefined && hasColumn(database, table, 'created_at')) {
    const day = isoTime(before);
    gone += database.run(
      `DELETE FROM ${from} WHERE (typeof(created_at) = 'text' AND created_at < ?) OR (typeof(created_at) <> 'text' AND created_at < ?)`,
      day,
      before,
    ).changes;
  }
  return gone + (holds ? forgetHolding(database, from, { holds, isEvent }) : 0);
}

function hasColumn(database: Database, table: string, column: string): boolean {
  return database.get('SELECT 1 FROM pragma_table_info(?) WHERE name = ?', table, column) !== undefined;
}

function forgetHolding(
  database: Database,
  from: string,
  { holds, isEvent }: { readonly holds: (text: string) => boolean; readonly isEvent: boolean },
): number {
  const rows = database.iterate<Record<string, unknown>>(`SELECT rowid AS row_number, * FROM ${from}`);
  const numbers: number[] = [];
  for (const row of rows) {
    const cells = isEvent ? CONTENT.map((column) => row[column]) : Object.values(row);
    if (cells.some((cell) => isHeld(cell, holds))) numbers.push(Number(row.row_number));
  }
  for (const number of numbers) database.run(`DELETE FROM ${from} WHERE rowid = ?`, number);
  return numbers.length;
}

/** Columns of an event that hold words of a conversation; its others are names. */
const CONTENT = ['args_json', 'result_preview', 'user_preview', 'assistant_preview'];

function isHeld(cell: unknown, holds: (text: string) => boolean): boolean {
  return typeof cell === 'string' && someStoredText(cell, new Set(), holds);
}

// Taking what went out of proposals, their citations and verdicts (state.db). Knows no file and no message.
// Invariants: inside the caller's transaction; a proposal stays as a fact (who, what kind, when, what came of it), its words go; one
// that waited for the owner waits no longer, since nothing is left to say yes to.

export interface ProposalsToForget {
  readonly messageIds: ReadonlySet<number>;
  /** Sessions that go as a whole. */
  readonly sessionIds: ReadonlySet<string>;
  /** Proposals of conversations made before this moment, epoch ms. */
  readonly before?: number;
  readonly holds?: (text: string) => boolean;
}

interface ForgottenProposals {
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

// Recognising again which recorded calls a written note rests on: by time and tool, which stand in front of every quoted call
// (curator notes 10). Pure; knows no writer of notes. Invariant: found whatever became of the words behind it.

const MARKED =
  /^(?:- | {2}(?:last|worked afterwards): )(\d{4}-\d\d-\d\dT[\d:.]+(?:[+-]\d\d:\d\d|Z)) (.+?)(?: (?:ok|error)(?::.*)?)?$/gm;

/** `created_at` and `tool_name` as the ledger holds them; a name that no tool has is not found again. */
export function evidenceMark(row: { readonly created_at: string; readonly tool_name: string }): string {
  return `${row.created_at} ${row.tool_name}`;
}

export function evidenceMarks(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(MARKED)].map(([, time = '', tool = '']) => `${time} ${tool}`));
}
