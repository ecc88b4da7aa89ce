/** A state.db as hermes-agent writes it (core notes 2.4), schema 26 or 30, in either layout of its full-text tables. */
import { DatabaseSync } from 'node:sqlite';

export interface HermesStateOptions {
  readonly version: number;
  /** Databases born before schema 23 keep one `content` column in the index. */
  readonly layout?: 'inline' | 'external';
  /** With the triggers of the loadable tokeniser, which is not loaded here. */
  readonly cjk?: boolean;
}

type Row = Readonly<Record<string, string | number | null>>;

export interface HermesState {
  readonly database: DatabaseSync;
  session(row: Row & { readonly id: string; readonly source: string; readonly started_at: number }): void;
  message(row: Row & { readonly session_id: string; readonly role: string; readonly timestamp: number }): void;
  close(): void;
}

const SESSIONS = `id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, session_key TEXT, chat_id TEXT, chat_type TEXT,
  thread_id TEXT, display_name TEXT, origin_json TEXT, expiry_finalized INTEGER DEFAULT 0, model TEXT, model_config TEXT,
  system_prompt TEXT, system_prompt_hash TEXT REFERENCES system_prompts(hash), parent_session_id TEXT REFERENCES sessions(id),
  started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0,
  input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0,
  cache_write_tokens INTEGER DEFAULT 0, reasoning_tokens INTEGER DEFAULT 0, cwd TEXT, git_branch TEXT, git_repo_root TEXT,
  git_metadata_generation INTEGER, billing_provider TEXT, billing_base_url TEXT, billing_mode TEXT, estimated_cost_usd REAL,
  actual_cost_usd REAL, cost_status TEXT, cost_source TEXT, pricing_version TEXT, title TEXT, title_source TEXT,
  last_activity_at REAL, last_activity_description TEXT, last_activity_provenance TEXT, api_call_count INTEGER DEFAULT 0,
  handoff_state TEXT, handoff_platform TEXT, handoff_error TEXT, compression_failure_cooldown_until REAL,
  compression_failure_error TEXT, compression_fallback_streak INTEGER DEFAULT 0, compression_ineffective_count INTEGER DEFAULT 0,
  profile_name TEXT, rewind_count INTEGER DEFAULT 0, archived INTEGER DEFAULT 0, pinned INTEGER DEFAULT 0, hidden INTEGER DEFAULT 0,
  last_read_at REAL`;
const SESSIONS_30 = `, created_source TEXT, compression_recovery_deadline REAL, compression_overload_streak INTEGER DEFAULT 0,
  transport_profile TEXT, tool_names TEXT`;

const MESSAGES = `id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL,
  content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, effect_disposition TEXT, timestamp REAL NOT NULL,
  token_count INTEGER, finish_reason TEXT, reasoning TEXT, reasoning_content TEXT, reasoning_details TEXT,
  codex_reasoning_items TEXT, codex_message_items TEXT, platform_message_id TEXT, observed INTEGER DEFAULT 0,
  active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0, api_content TEXT, display_kind TEXT, display_metadata TEXT`;
const MESSAGES_30 = ', _compressed_summary INTEGER DEFAULT 0, display_identity TEXT, display_order INTEGER';

const REST = `
CREATE TABLE state_meta(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE session_model_usage(session_id TEXT, model TEXT, billing_provider TEXT, billing_base_url TEXT, billing_mode TEXT, task TEXT,
  input_tokens INTEGER, output_tokens INTEGER, first_seen REAL, last_seen REAL,
  PRIMARY KEY(session_id, model, billing_provider, billing_base_url, billing_mode, task));
CREATE TABLE gateway_routing(scope TEXT, session_key TEXT, entry_json TEXT, updated_at REAL, PRIMARY KEY(scope, session_key));
CREATE TABLE gateway_hygiene_state(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE compression_locks(session_id TEXT PRIMARY KEY, holder TEXT, acquired_at REAL, expires_at REAL);
CREATE TABLE session_turn_leases(session_id TEXT PRIMARY KEY, holder TEXT, acquired_at REAL, expires_at REAL);
CREATE TABLE async_delegations(id TEXT PRIMARY KEY, session_id TEXT, state TEXT);
CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL;
CREATE INDEX idx_messages_session ON messages(session_id, timestamp);
`;

const GENERATIONS = `
CREATE TABLE conversation_generations(session_id TEXT, generation INTEGER, PRIMARY KEY(session_id, generation));
CREATE TABLE gateway_heartbeats(gateway TEXT PRIMARY KEY, at REAL);
`;

const INLINE = `
CREATE VIRTUAL TABLE messages_fts USING fts5(content);
CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
  INSERT INTO messages_fts(rowid, content) VALUES(new.id,
    coalesce(new.content, '') || ' ' || coalesce(new.tool_name, '') || ' ' || coalesce(new.tool_calls, ''));
END;
CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages BEGIN DELETE FROM messages_fts WHERE rowid = old.id; END;
`;

const EXTERNAL = `
CREATE VIEW messages_fts_src AS SELECT id, CASE WHEN role = 'tool' THEN substr(content, 1, 8192) ELSE content END AS content,
  tool_name, tool_calls FROM messages;
CREATE VIRTUAL TABLE messages_fts USING fts5(content, tool_name, tool_calls, content='messages_fts_src', content_rowid='id');
CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
  INSERT INTO messages_fts(rowid, content, tool_name, tool_calls) VALUES(new.id, new.content, new.tool_name, new.tool_calls);
END;
CREATE VIEW messages_fts_trigram_src AS SELECT id, content, tool_name, tool_calls FROM messages WHERE role <> 'tool';
CREATE VIRTUAL TABLE messages_fts_trigram USING fts5(content, tool_name, tool_calls,
  content='messages_fts_trigram_src', content_rowid='id', tokenize='trigram');
CREATE TRIGGER messages_fts_trigram_insert AFTER INSERT ON messages WHEN new.role <> 'tool' BEGIN
  INSERT INTO messages_fts_trigram(rowid, content, tool_name, tool_calls) VALUES(new.id, new.content, new.tool_name, new.tool_calls);
END;
INSERT INTO state_meta VALUES('fts_storage_version', '2');
INSERT INTO state_meta VALUES('fts_rebuild_high_water', '0');
INSERT INTO state_meta VALUES('fts_rebuild_progress', '0');
`;

const CJK = `
CREATE VIEW messages_fts_cjk_src AS SELECT id, content FROM messages WHERE role <> 'tool';
CREATE VIRTUAL TABLE messages_fts_cjk USING fts5(content, content='messages_fts_cjk_src', content_rowid='id', tokenize='unicode61');
CREATE TRIGGER messages_fts_cjk_insert AFTER INSERT ON messages WHEN new.role <> 'tool' BEGIN
  INSERT INTO messages_fts_cjk(rowid, content) VALUES(new.id, new.content);
END;
`;

/** Opens a fresh file in WAL mode; until `close` the rows may stand in the log alone. */
export function createHermesState(path: string, options: HermesStateOptions): HermesState {
  const { version, layout = 'external', cjk = false } = options;
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0');
  const later = version >= 30;
  database.exec(`
    CREATE TABLE schema_version(version INTEGER NOT NULL);
    INSERT INTO schema_version VALUES(${version});
    CREATE TABLE system_prompts(hash TEXT PRIMARY KEY, prompt TEXT NOT NULL);
    CREATE TABLE sessions(${SESSIONS}${later ? SESSIONS_30 : ''});
    CREATE TABLE messages(${MESSAGES}${later ? MESSAGES_30 : ''});
    ${REST}${later ? GENERATIONS : ''}${layout === 'inline' ? INLINE : EXTERNAL}${cjk ? CJK : ''}`);
  return {
    database,
    session: (row) => insert(database, 'sessions', row),
    message: (row) => {
      insert(database, 'messages', row);
      database.prepare('UPDATE sessions SET message_count = message_count + 1 WHERE id = ?').run(row.session_id);
    },
    close: () => database.close(),
  };
}

/** From here on the index wants a tokeniser that only hermes-agent loads: every insert into messages fails. */
export function demandTokeniser(path: string): void {
  const database = new DatabaseSync(path);
  database.enableDefensive(false);
  database.exec(`PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = replace(sql, 'tokenize=''unicode61''', 'tokenize=''cjk_unicode61''') WHERE name = 'messages_fts_cjk';
    PRAGMA writable_schema = RESET`);
  database.close();
}

function insert(database: DatabaseSync, table: string, row: Row): void {
  const names = Object.keys(row);
  database
    .prepare(`INSERT INTO ${table}(${names.join(', ')}) VALUES(${names.map(() => '?').join(', ')})`)
    .run(...Object.values(row));
}
