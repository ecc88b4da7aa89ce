// Owns making a legal store of conversations out of rows that were saved from a damaged file. Knows nothing of how they were saved.
// Invariant: a message that can be read stays, also when its session's row is lost; what points at nothing goes; counters agree again.
import type { Database } from '#base/database/connection.ts';
import { errorCode } from '#base/errors.ts';
import { decodeMessage, type MessageRow } from './message-rows.ts';
import type { SqliteSessionStore } from './sqlite-session-store.ts';

/** What is made again from the messages. */
export const DERIVED_TABLES: readonly string[] = ['spoken', 'tool'].flatMap((lane) =>
  ['terms', 'words', 'counts'].map((part) => `${lane}_${part}`),
);

export interface Mended {
  readonly sessions: number;
  readonly messages: number;
  /** Messages whose content made no sense. */
  readonly unreadable: number;
  /** Sessions that were named anew, since only their messages were left. */
  readonly adopted: number;
}

/** `store`: on a file that nobody else uses. */
export async function mendSalvaged(store: SqliteSessionStore): Promise<Mended> {
  const { database } = store;
  database.exec('PRAGMA foreign_keys = OFF');
  const done = await database.transaction(() => {
    database.run('DELETE FROM leases');
    const unreadable = dropUnreadable(database);
    const adopted = adoptOrphans(database);
    dropDangling(database);
    database.exec(RECOUNT);
    return { unreadable, adopted };
  });
  database.exec('PRAGMA foreign_keys = ON');
  await store.repairIndex();
  return { ...done, sessions: countOf(database, 'sessions'), messages: countOf(database, 'messages') };
}

const RECOUNT = `
UPDATE sessions SET
  message_count = (SELECT count(*) FROM messages WHERE session = key AND active = 1),
  tool_call_count = (SELECT count(*) FROM tool_calls WHERE session = key),
  last_seq = max(last_seq, (SELECT coalesce(max(seq), 0) FROM messages WHERE session = key))`;

function countOf(database: Database, table: 'sessions' | 'messages'): number {
  return database.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)?.n ?? 0;
}

function dropUnreadable(database: Database): number {
  const bad: number[] = [];
  for (const row of database.iterate<MessageRow>('SELECT id, role, at, body FROM messages'))
    if (!isReadable(row)) bad.push(row.id);
  for (const id of bad) database.run('DELETE FROM messages WHERE id = ?', id);
  return bad.length;
}

function isReadable(row: MessageRow): boolean {
  try {
    const { message } = decodeMessage(row, '');
    return ['user', 'assistant', 'tool'].includes(message.role) && Array.isArray(message.parts);
  } catch (error) {
    if (errorCode(error) === 'database-corrupt') return false;
    throw error;
  }
}

function adoptOrphans(database: Database): number {
  return database.run(
    `INSERT INTO sessions(key, id, source, title, cwd, started_at, last_active_at)
     SELECT session, 'salvaged_' || session, 'cli', 'salvaged', '', min(at), max(at) FROM messages
     WHERE session NOT IN (SELECT key FROM sessions) GROUP BY session`,
  ).changes;
}

interface Dangling {
  readonly table: string;
  readonly rowid: number | null;
}

/** Also rows of other rooms that keep tables beside ours. */
function dropDangling(database: Database): void {
  database.exec(`
    UPDATE sessions SET prompt_hash = NULL WHERE prompt_hash NOT IN (SELECT hash FROM prompts);
    UPDATE tool_calls SET result_id = NULL WHERE result_id NOT IN (SELECT id FROM messages);
    DELETE FROM tool_calls WHERE message_id NOT IN (SELECT id FROM messages) OR session NOT IN (SELECT key FROM sessions);`);
  for (const { table, rowid } of database.all<Dangling>('PRAGMA foreign_key_check'))
    if (rowid !== null) database.run(`DELETE FROM "${table}" WHERE rowid = ?`, rowid);
}
