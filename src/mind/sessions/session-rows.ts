// Owns the rows of `sessions`: making, reading, listing them. Invariant: ids are unique; counters equal the rows that they count.
import type { Clock } from '#base/clock.ts';
import type { Database, SqlValue } from '#base/database/connection.ts';
import { TalariaError } from '#base/errors.ts';
import { newSessionId } from '#base/ids.ts';
import type { SessionFilter, SessionRecord, SessionStart } from '#core/agent/session-store.ts';

/** What the rooms here need of a row beside the record. */
export interface SessionRow extends SessionRecord {
  readonly key: number;
  readonly promptHash?: string;
}

const COLUMNS = [
  'key, id, source, cwd, title, model, user_id AS userId, chat_id AS chatId, parent_id AS parentId',
  'prompt_hash AS promptHash, started_at AS startedAt, last_active_at AS lastActiveAt, ended_at AS endedAt',
  'message_count AS messageCount, tool_call_count AS toolCallCount',
];

/** By a condition, and what follows it. */
export function selectSessions(database: Database, where: string, ...values: readonly SqlValue[]): SessionRow[] {
  return database
    .all<RowOf<SessionRow>>(`SELECT ${COLUMNS.join(', ')} FROM sessions ${where}`, ...values)
    .map(filled<SessionRow>);
}

/** A value as its columns hold it: what is absent is null there. */
export type RowOf<Value> = {
  readonly [Key in keyof Value]-?: undefined extends Value[Key] ? Exclude<Value[Key], undefined> | null : Value[Key];
};

export function filled<Value>(row: RowOf<Value>): Value {
  return Object.fromEntries(Object.entries(row).filter(([, cell]) => cell !== null)) as Value;
}

const DEFAULT_LIMIT = 20;

/** Inside a transaction. A given id (an embedding program's own) is kept; else a new one is made. */
export function insertSession(
  database: Database,
  start: SessionStart,
  { clock, id: given }: { readonly clock: Clock; readonly id?: string },
): SessionRow {
  const now = clock.now();
  const id = given ?? start.id ?? newSessionId(clock);
  return insertRow(database, id, { ...start, startedAt: now, lastActiveAt: now });
}

/** The same for a session that began elsewhere. */
export function insertRow(
  database: Database,
  id: string,
  start: Omit<SessionStart, 'id'> & Pick<SessionRecord, 'model' | 'startedAt' | 'lastActiveAt'>,
): SessionRow {
  database.run(
    `INSERT INTO sessions(id, source, user_id, chat_id, title, parent_id, cwd, model, started_at, last_active_at)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[id.toWellFormed(), start.source.toWellFormed(), start.userId?.toWellFormed() ?? null],
    ...[start.chatId?.toWellFormed() ?? null, start.title?.toWellFormed() ?? null],
    ...[start.parentId?.toWellFormed() ?? null, start.cwd.toWellFormed(), start.model?.toWellFormed() ?? null],
    ...[start.startedAt, start.lastActiveAt],
  );
  return needSession(database, id);
}

export function findSession(database: Database, id: string): SessionRow | undefined {
  return selectSessions(database, 'WHERE id = ?', id.toWellFormed())[0];
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
export function listSessions(
  database: Database,
  { source, cwd, userId, chatId, parentId, spoken, limit = DEFAULT_LIMIT }: SessionFilter,
): readonly SessionRow[] {
  const columns = Object.entries({ source, cwd, user_id: userId, chat_id: chatId, parent_id: parentId });
  const wanted = columns.flatMap(([column, value]) =>
    value === undefined ? [] : [{ column, value: value.toWellFormed() }],
  );
  const where = [...wanted.map(({ column }) => `${column} = ?`), 'message_count > ?'].join(' AND ');
  return selectSessions(
    database,
    `WHERE ${where} ORDER BY last_active_at DESC, key DESC LIMIT ?`,
    ...wanted.map(({ value }) => value),
    ...[spoken === true ? 0 : -1, Math.max(0, Math.trunc(limit))],
  );
}

export function sessionRecord({ key: _key, promptHash: _hash, ...record }: SessionRow): SessionRecord {
  return record;
}
