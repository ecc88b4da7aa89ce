// Owns taking events out of the ledger, `evidence.sqlite` (curator notes 2). Knows its tables by their columns only: whatever has a
// session is an event of it, whatever has a time came from one (candidates for review). Invariant: inside the caller's transaction; a row goes whole, since every row can be made again or missed.
import { isoTime } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { someStoredText } from '#mind/sessions/forget/json-texts.ts';

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
