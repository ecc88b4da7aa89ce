// Owns reading sessions from a copy of hermes-agent's state.db, schema 26 to 30 (core notes 2.4). Knows no index of it: full-text tables
// and their tokenisers are never touched. Invariant: reads only what columns are there; one damaged session does not hide the others.
import type { Database } from '#base/database/connection.ts';
import { openDatabase } from '#base/database.ts';
import { TalariaError } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { assembleSession, type HermesSession, type TimedMessage, typedByOwner } from './hermes-session.ts';
import { storedCalls, storedContent } from './map-message.ts';

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

interface SessionColumns {
  readonly id: string;
  readonly source: string;
  readonly started_at: number;
  readonly user_id?: string | null;
  readonly chat_id?: string | null;
  readonly chat_type?: string | null;
  readonly parent_session_id?: string | null;
  readonly title?: string | null;
  readonly model?: string | null;
  readonly cwd?: string | null;
  readonly ended_at?: number | null;
  readonly last_activity_at?: number | null;
}

const SESSION_COLUMNS = [
  'user_id',
  'chat_id',
  'chat_type',
  'parent_session_id',
  'title',
  'model',
  'cwd',
  'ended_at',
  'last_activity_at',
];

interface MessageColumns {
  readonly role: string;
  readonly timestamp: number;
  readonly content?: Uint8Array | null;
  readonly api_content?: Uint8Array | null;
  readonly tool_calls?: Uint8Array | null;
  readonly reasoning?: Uint8Array | null;
  readonly reasoning_content?: Uint8Array | null;
  readonly tool_call_id?: string | null;
  readonly tool_name?: string | null;
  readonly finish_reason?: string | null;
  readonly observed?: number | null;
  readonly active?: number | null;
  readonly compacted?: number | null;
  readonly _compressed_summary?: number | null;
}

/** As bytes: SQLite hands text over only up to its first NUL. */
const TEXT_COLUMNS = ['content', 'api_content', 'tool_calls', 'reasoning', 'reasoning_content'];
const PLAIN_COLUMNS = [
  'tool_call_id',
  'tool_name',
  'finish_reason',
  'observed',
  'active',
  'compacted',
  '_compressed_summary',
];

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
      const row = database.get<SessionColumns>(sessionSql, id);
      if (row === undefined) throw new TalariaError(`there is no session ${id}`, { code: 'no-such-session' });
      return sessionOf(row, database.all<MessageColumns>(messageSql, id));
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

function sessionOf(row: SessionColumns, rows: readonly MessageColumns[]): HermesSession {
  const startedAt = epochMs(row.started_at);
  const times = rows.map(({ timestamp }) => epochMs(timestamp));
  const session = {
    id: row.id,
    source: row.source,
    cwd: row.cwd ?? '',
    startedAt,
    lastActiveAt: Math.max(
      startedAt,
      ...(row.last_activity_at ? [epochMs(row.last_activity_at)] : []),
      times.at(-1) ?? 0,
    ),
    ...(row.user_id ? { userId: row.user_id } : {}),
    ...(row.chat_id ? { chatId: row.chat_id } : {}),
    ...(row.parent_session_id ? { parentId: row.parent_session_id } : {}),
    ...(row.title ? { title: row.title } : {}),
    ...(row.model ? { model: row.model } : {}),
    ...(row.ended_at ? { endedAt: epochMs(row.ended_at) } : {}),
  };
  return assembleSession(session, rows.map(messageOf), { owner: typedByOwner(row.source, row.chat_type ?? undefined) });
}

function messageOf(row: MessageColumns): TimedMessage {
  const reasoning = textOf(row.reasoning) || textOf(row.reasoning_content);
  const sent = textOf(row.api_content);
  return {
    at: epochMs(row.timestamp),
    state: stateOf(row),
    role: row.role,
    content: storedContent(textOf(row.content)),
    toolCalls: storedCalls(textOf(row.tool_calls)),
    ...(reasoning ? { reasoning } : {}),
    ...(sent ? { sent } : {}),
    ...(row.tool_call_id ? { toolCallId: row.tool_call_id } : {}),
    ...(row.tool_name ? { toolName: row.tool_name } : {}),
    ...(row.finish_reason ? { finishReason: row.finish_reason } : {}),
    overheard: row.observed === 1,
    summary: row._compressed_summary === 1,
  };
}

function stateOf({ active, compacted }: MessageColumns): TimedMessage['state'] {
  if (active !== 0) return 'live';
  return compacted === 1 ? 'compacted' : 'rewound';
}

function textOf(bytes: Uint8Array | null | undefined): string | undefined {
  return bytes ? Buffer.from(bytes).toString('utf8') : undefined;
}

/** Times there are seconds with a fraction. */
function epochMs(seconds: number): number {
  return Math.round(Number(seconds) * 1000);
}
