// Owns reading sessions from a copy of hermes-agent's state.db, schema 26 to 30 (core notes 2.4). Knows no index of it: full-text tables
// and their tokenisers are never touched. Invariant: reads only what columns are there; one damaged session does not hide the others.
import type { Database } from '#base/database/connection.ts';
import { openDatabase } from '#base/database.ts';
import { TalariaError } from '#base/errors.ts';
import { type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { assembleSession, type HermesMessage, type HermesSession, stringOf, toldFacts } from './map-message.ts';

const NEWEST_SCHEMA = 30;

export interface HermesDatabase {
  readonly version: number;
  /** Ids in order of their start. */
  readonly sessionIds: readonly string[];
  /** When something was last said or done in each. Reads one row a session; epoch ms, NaN where the row holds no time. */
  lastActive(): ReadonlyMap<string, number>;
  /** Throws TalariaError `database-corrupt` for rows that cannot be read. */
  session(id: string): HermesSession;
  close(): void;
}

/** Of sessions and messages, as far as they are there. */
const SESSION_COLUMNS = 'user_id chat_id chat_type parent_session_id title model cwd ended_at last_activity_at'.split(
  ' ',
);
/** As bytes: SQLite hands text over only up to its first NUL. */
const TEXT_COLUMNS = ['content', 'api_content', 'tool_calls', 'reasoning', 'reasoning_content'];
const PLAIN_COLUMNS = 'tool_call_id tool_name finish_reason observed active compacted _compressed_summary'.split(' ');

/** Absent: this schema has no such column. */
type Row = Readonly<Record<string, string | number | Uint8Array | null | undefined>>;

/** `path` is a copy that nobody else uses. Throws TalariaError `database-corrupt`. */
export function openHermesDatabase(path: string): Result<HermesDatabase, 'newer-schema' | 'not-hermes'> {
  const { database } = openDatabase(path, { rooms: [], onCorrupt: 'throw' });
  try {
    const version = schemaVersion(database);
    const sessions = columnsOf(database, 'sessions');
    const messages = columnsOf(database, 'messages');
    if (version === undefined || !sessions.has('started_at') || !messages.has('session_id')) {
      return closing(database, refuse('not-hermes', 'state.db holds no sessions of hermes-agent'));
    }
    if (version > NEWEST_SCHEMA) {
      const detail = `state.db has schema ${version}; this Talaria reads up to ${NEWEST_SCHEMA}. Its sessions were left; update Talaria and run this again`;
      return closing(database, refuse('newer-schema', detail));
    }
    return ok(reader(database, version, { sessions, messages }));
  } catch (error) {
    database.abandon();
    throw error;
  }
}

function closing<T>(database: Database, value: T): T {
  database.abandon();
  return value;
}

function schemaVersion(database: Database): number | undefined {
  if (columnsOf(database, 'schema_version').size === 0) return undefined;
  return database.get<{ version: number }>('SELECT max(version) AS version FROM schema_version')?.version ?? undefined;
}

function columnsOf(database: Database, table: string): ReadonlySet<string> {
  return new Set(
    database.all<{ name: string }>('SELECT name FROM pragma_table_info(?)', table).map(({ name }) => name),
  );
}

interface Columns {
  readonly sessions: ReadonlySet<string>;
  readonly messages: ReadonlySet<string>;
}

function reader(database: Database, version: number, columns: Columns): HermesDatabase {
  indexMessages(database);
  const sessionSql = `SELECT id, source, started_at${list(SESSION_COLUMNS, columns.sessions)} FROM sessions WHERE id = ?`;
  const texts = TEXT_COLUMNS.filter((name) => columns.messages.has(name)).map(
    (name) => `CAST(${name} AS BLOB) AS ${name}`,
  );
  const messageSql = `SELECT role, timestamp${list(PLAIN_COLUMNS, columns.messages)}, ${texts.join(', ')}
    FROM messages WHERE session_id = ? ORDER BY id`;
  const ids = database.all<{ id: string }>('SELECT id FROM sessions ORDER BY started_at, rowid').map(({ id }) => id);
  return {
    version,
    sessionIds: ids,
    lastActive: () => lastActive(database, columns),
    session: (id) => {
      const row = database.get<Row>(sessionSql, id);
      if (row === undefined) throw new TalariaError(`there is no session ${id}`, { code: 'no-such-session' });
      return sessionOf(row, database.all<Row>(messageSql, id).map(messageOf));
    },
    close: () => database.abandon(),
  };
}

function lastActive(database: Database, columns: Columns): ReadonlyMap<string, number> {
  const newest = '(SELECT timestamp FROM messages WHERE session_id = sessions.id ORDER BY id DESC LIMIT 1)';
  const known = columns.sessions.has('last_activity_at') ? 'coalesce(last_activity_at, 0)' : '0';
  const rows = database.iterate<{ id: string; at: number | null }>(
    `SELECT id, max(coalesce(started_at, 0), ${known}, coalesce(${newest}, 0)) AS at FROM sessions`,
  );
  return new Map(rows.map(({ id, at }) => [id, epochMs(at ?? Number.NaN)]));
}

function list(names: readonly string[], there: ReadonlySet<string>): string {
  return names
    .filter((name) => there.has(name))
    .map((name) => `, ${name}`)
    .join('');
}

/** Every session is read by itself: without an index each of them would read the whole table. */
function indexMessages(database: Database): void {
  const indexed = database.get(
    `SELECT 1 FROM pragma_index_list('messages') AS l, pragma_index_info(l.name) AS i
     WHERE i.seqno = 0 AND i.name = 'session_id' AND l.partial = 0`,
  );
  if (indexed === undefined) database.exec('CREATE INDEX import_by_session ON messages(session_id, id)');
}

function sessionOf(row: Row, rows: readonly HermesMessage[]): HermesSession {
  const { user_id: userId, chat_id: chatId, ended_at: endedAt } = row;
  const startedAt = epochMs(row.started_at);
  const last = row.last_activity_at ? epochMs(row.last_activity_at) : 0;
  const session = {
    ...{ id: String(row.id), source: String(row.source), startedAt },
    lastActiveAt: Math.max(startedAt, last, rows.at(-1)?.at ?? 0),
    ...toldFacts(row as JsonObject),
    ...(userId ? { userId: String(userId) } : {}),
    ...(chatId ? { chatId: String(chatId) } : {}),
    ...(endedAt ? { endedAt: epochMs(endedAt) } : {}),
  };
  return assembleSession(session, rows, stringOf(row.chat_type));
}

function messageOf(row: Row): HermesMessage {
  const texts = Object.fromEntries(TEXT_COLUMNS.map((name) => [name, textOf(row[name])]));
  const entry = { ...row, ...texts, content: storedContent(texts.content), tool_calls: storedCalls(texts.tool_calls) };
  return {
    ...{ at: epochMs(row.timestamp), state: stateOf(row), entry: entry as JsonObject },
    ...{ sent: texts.api_content || undefined, overheard: row.observed === 1, summary: row._compressed_summary === 1 },
  };
}

/** A list in the chat format is stored as NUL, `json:`, JSON. */
function storedContent(text: string | undefined): JsonValue {
  if (text === undefined) return null;
  if (!text.startsWith('\0json:')) return text;
  const parsed = parseJson(text.slice('\0json:'.length));
  return parsed.ok ? parsed.value : text.slice(1);
}

/** `tool_calls` as stored: a JSON list; anything else counts as none. */
function storedCalls(text: string | undefined): JsonValue {
  const parsed = text ? parseJson(text) : undefined;
  return parsed?.ok ? parsed.value : null;
}

function stateOf({ active, compacted }: Row): HermesMessage['state'] {
  if (active !== 0) return 'live';
  return compacted === 1 ? 'compacted' : 'rewound';
}

function textOf(cell: Row[string]): string | undefined {
  return cell instanceof Uint8Array ? Buffer.from(cell).toString('utf8') : undefined;
}

/** Times there are seconds with a fraction. */
function epochMs(seconds: Row[string]): number {
  return Math.round(Number(seconds) * 1000);
}
