// Owns the rows of `sessions`: making, reading, listing them. Invariant: ids are unique; counters equal the rows that they count.
import type { Clock } from '#base/clock.ts';
import type { Database, SqlValue } from '#base/database/connection.ts';
import { TalariaError } from '#base/errors.ts';
import { newSessionId } from '#base/ids.ts';
import type { SessionFilter, SessionRecord, SessionStart } from '#core/agent/session-store.ts';

/** A row of `sessions` with the columns that others need. */
export interface SessionRow {
  readonly key: number;
  readonly id: string;
  readonly source: string;
  readonly user_id: string | null;
  readonly chat_id: string | null;
  readonly title: string | null;
  readonly parent_id: string | null;
  readonly cwd: string;
  readonly model: string | null;
  readonly prompt_hash: string | null;
  readonly started_at: number;
  readonly last_active_at: number;
  readonly ended_at: number | null;
  readonly message_count: number;
  readonly tool_call_count: number;
  readonly last_seq: number;
}

const DEFAULT_LIMIT = 20;

/** Inside a transaction. A given id (an embedding program's own) is kept; else a new one is made. */
export function insertSession(
  database: Database,
  start: SessionStart,
  given: { readonly clock: Clock; readonly id?: string },
): SessionRow {
  const now = given.clock.now();
  const id = given.id ?? start.id ?? newSessionId(given.clock);
  database.run(
    `INSERT INTO sessions(id, source, user_id, chat_id, title, parent_id, cwd, started_at, last_active_at)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id.toWellFormed(),
    start.source.toWellFormed(),
    start.userId?.toWellFormed() ?? null,
    start.chatId?.toWellFormed() ?? null,
    start.title?.toWellFormed() ?? null,
    start.parentId ?? null,
    start.cwd.toWellFormed(),
    now,
    now,
  );
  return needSession(database, id);
}

export function findSession(database: Database, id: string): SessionRow | undefined {
  return database.get<SessionRow>('SELECT * FROM sessions WHERE id = ?', id.toWellFormed());
}

export function needSession(database: Database, id: string): SessionRow {
  const row = findSession(database, id);
  if (row === undefined) throw noSuchSession(id);
  return row;
}

export function noSuchSession(id: string): TalariaError {
  return new TalariaError(`there is no session ${id}`, { code: 'no-such-session', fix: 'See `talaria sessions`.' });
}

/** Newest activity first. */
export function listSessions(database: Database, filter: SessionFilter): readonly SessionRow[] {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  if (filter.source !== undefined) {
    conditions.push('source = ?');
    values.push(filter.source);
  }
  if (filter.cwd !== undefined) {
    conditions.push('cwd = ?');
    values.push(filter.cwd);
  }
  if (filter.spoken === true) conditions.push('message_count > 0');
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const limit = Math.max(0, Math.trunc(filter.limit ?? DEFAULT_LIMIT));
  return database.all<SessionRow>(
    `SELECT * FROM sessions ${where} ORDER BY last_active_at DESC, key DESC LIMIT ?`,
    ...values,
    limit,
  );
}

export function sessionRecord(row: SessionRow): SessionRecord {
  return {
    id: row.id,
    source: row.source,
    cwd: row.cwd,
    startedAt: row.started_at,
    lastActiveAt: row.last_active_at,
    messageCount: row.message_count,
    toolCallCount: row.tool_call_count,
    ...(row.user_id === null ? {} : { userId: row.user_id }),
    ...(row.chat_id === null ? {} : { chatId: row.chat_id }),
    ...(row.parent_id === null ? {} : { parentId: row.parent_id }),
    ...(row.title === null ? {} : { title: row.title }),
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at }),
    ...(row.model === null ? {} : { model: row.model }),
  };
}
