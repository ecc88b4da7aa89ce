/** A whole `~/.hermes` for tests: conversations of every kind, skills with their side-car, memories, settings, keys. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TempHome } from '#public/testing.ts';

const START = 1_788_000_000;

export const FIRST = '20260829_101500_aaaaaa';
export const CHILD = '20260829_111500_bbbbbb';
export const GROUP = '20260830_101500_cccccc';
export const SUBAGENT = '20260830_101600_dddddd';
export const EMPTY = '20260831_101500_eeeeee';
export const FROM_FILE = '20260901_090000_ffffff';

/** Rows of four conversations; schema 30 has the flag of a summary. */
export function fillState(state: HermesState, version: number): void {
  state.database.prepare('INSERT INTO system_prompts VALUES(?, ?)').run('hash1', 'You are Hermes.');
  state.session({
    id: FIRST,
    source: 'cli',
    started_at: START + 0.25,
    ended_at: START + 900,
    model: 'anthropic/claude-opus-4.6',
    title: 'the bree migration',
    cwd: '/srv/bree',
    system_prompt_hash: 'hash1',
  });
  firstMessages(state);
  state.session({
    id: CHILD,
    source: 'telegram',
    started_at: START + 3600,
    chat_id: '777',
    chat_type: 'dm',
    user_id: '42',
    parent_session_id: FIRST,
    model: 'anthropic/claude-opus-4.6',
  });
  childMessages(state, version);
  state.session({ id: GROUP, source: 'discord', started_at: START + 90_000, chat_type: 'group', hidden: 1 });
  groupMessages(state);
  state.session({ id: SUBAGENT, source: 'subagent', started_at: START + 90_060, parent_session_id: GROUP });
  state.message({
    session_id: SUBAGENT,
    role: 'user',
    content: 'List the open quorndelta tickets.',
    timestamp: START + 90_061,
  });
  state.message({ session_id: SUBAGENT, role: 'assistant', content: 'There are three.', timestamp: START + 90_062 });
  state.session({ id: EMPTY, source: 'cli', started_at: START + 180_000 });
}

function firstMessages(state: HermesState): void {
  const call = {
    id: 'call_1',
    type: 'function',
    function: { name: 'terminal', arguments: '{"command":"pg_dump bree"}' },
  };
  const rows = [
    { role: 'user', content: 'Dump the bree database to /srv/bree/dump.sql please' },
    {
      role: 'assistant',
      content: '',
      reasoning: 'A dump first.',
      tool_calls: JSON.stringify([call]),
      finish_reason: 'tool_calls',
    },
    {
      role: 'tool',
      content: '{"output":"dumped 4711 rows","exit_code":0,"error":null}',
      tool_call_id: 'call_1',
      tool_name: 'terminal',
    },
    { role: 'assistant', content: 'The dump has 4711 rows.', reasoning_content: 'All well.' },
    { role: 'user', content: 'no, forget that I asked this rewoundquestion', active: 0, compacted: 0 },
    { role: 'session_meta', content: '{}' },
  ];
  for (const [index, row] of rows.entries())
    state.message({ session_id: FIRST, timestamp: START + 1.5 + index, ...row });
}

function childMessages(state: HermesState, version: number): void {
  const summary = version >= 30 ? { _compressed_summary: 1 } : {};
  const at = (index: number) => START + 3601 + index;
  const gone = { active: 0, compacted: 1 };
  state.message({
    session_id: CHILD,
    role: 'user',
    content: 'an early compactedword sentence',
    timestamp: at(0),
    ...gone,
  });
  state.message({ session_id: CHILD, role: 'assistant', content: 'an early answer', timestamp: at(1), ...gone });
  state.message({ session_id: CHILD, role: 'user', content: 'Summary: early things.', timestamp: at(2), ...summary });
  state.message({
    session_id: CHILD,
    role: 'user',
    content: 'Which host runs the staging copy?',
    api_content: '<memory>recalledtext about hosts</memory>\n\nWhich host runs the staging copy?',
    timestamp: at(3),
  });
  state.message({
    session_id: CHILD,
    role: 'assistant',
    content: 'It runs on moria.',
    timestamp: at(4),
    finish_reason: 'length',
  });
}

function groupMessages(state: HermesState): void {
  const picture = [
    { type: 'text', text: 'what is in this picture of the harbourcrane?' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
  ];
  const at = START + 90_001;
  state.message({ session_id: GROUP, role: 'user', content: 'overheard chatter', observed: 1, timestamp: at });
  state.message({ session_id: GROUP, role: 'user', content: `\0json:${JSON.stringify(picture)}`, timestamp: at + 1 });
  state.message({
    session_id: GROUP,
    role: 'assistant',
    content: 'A crane.',
    tool_calls: '{broken',
    timestamp: at + 2,
  });
}

export interface HermesHome {
  readonly path: string;
  /** Kept open, as by a running program: the newest rows are in the log only. */
  readonly state: HermesState;
}

export function writeHermesHome(temp: TempHome, options: HermesStateOptions): HermesHome {
  const at = (name: string, text: string) => temp.write(join('hermes', name), text);
  at('SOUL.md', 'You are calm.\n');
  at(
    'memories/MEMORY.md',
    'The staging server is called bree.\n§\nDumps go to /srv/bree.\n§\nThe staging server is called bree.',
  );
  at('memories/USER.md', 'The user prefers short answers.');
  at('config.yaml', CONFIG);
  at('.env', 'OPENROUTER_API_KEY=or-test-value-1234\nTELEGRAM_BOT_TOKEN=tg-test-value\nEMPTY_API_KEY=\n');
  at('auth.json', '{}');
  at('cron/jobs.json', '[]');
  writeSkills(at);
  at(`sessions/session_${FROM_FILE}.json`, JSON.stringify(sessionFile(FROM_FILE)));
  at(`sessions/session_${FIRST}.json`, JSON.stringify(sessionFile(FIRST)));
  at('sessions/session_broken.json', '{"session_id":');
  at('sessions/sessions.json', '{}');
  const path = join(temp.path, 'hermes', 'state.db');
  const state = createHermesState(path, options);
  fillState(state, options.version);
  if (options.cjk) demandTokeniser(path);
  return { path: join(temp.path, 'hermes'), state };
}

const CONFIG = `_config_version: 37
model:
  default: anthropic/claude-opus-4.6
  provider: openrouter
  base_url: https://openrouter.ai/api/v1
  api_key: sk-or-v1-0123456789abcdef0123456789abcdef
custom_providers:
  - name: Garage
    base_url: http://127.0.0.1:9999/v1
    key_env: GARAGE_KEY
    model: qwen3-8b
toolsets: [hermes-cli, terminal, file]
terminal:
  timeout: 240
  backend: docker
memory:
  memory_enabled: true
  nudge_interval: 7
  provider: honcho
skills:
  write_approval: true
compression:
  enabled: true
  threshold: 1.5
agent:
  max_turns: 60
approvals:
  mode: smart
  timeout: 90
command_allowlist: ["rm -r"]
display:
  skin: ''
  compact: true
mcp_servers:
  tracker:
    command: tracker-mcp
    env: { TRACKER_TOKEN: abcdefgh12345678 }
`;

function writeSkills(at: (name: string, text: string) => string): void {
  at('skills/data/dump-bree/SKILL.md', skillText('dump-bree', 'Dump the bree database before a migration.'));
  at('skills/data/dump-bree/scripts/dump.sh', '#!/bin/sh\npg_dump "$1" > dump.sql\n');
  at('skills/data/DESCRIPTION.md', 'Databases.');
  at('skills/short-notes/SKILL.md', skillText('short-notes', 'Write short notes.'));
  at('skills/no-skill/SKILL.md', 'just text\n');
  at('skills/.archive/old/SKILL.md', skillText('old', 'Gone.'));
  at(
    'skills/.usage.json',
    JSON.stringify({
      'dump-bree': {
        created_by: 'agent',
        use_count: 5,
        view_count: 9,
        pinned: true,
        state: 'active',
        last_used_at: '2026-08-29T10:15:00Z',
        created_at: '2026-08-01T10:15:00Z',
      },
      'short-notes': { created_by: null, use_count: 0, view_count: 2, pinned: false, state: 'stale' },
    }),
  );
}

export function skillText(name: string, description: string): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\n## Steps\n\n1. Do it.\n`;
}

function sessionFile(id: string) {
  return {
    session_id: id,
    model: 'gpt-5',
    base_url: '',
    platform: 'cli',
    session_start: '2026-09-01T09:00:00',
    last_updated: '2026-09-01T09:05:00',
    system_prompt: 'You are Hermes.',
    tools: [],
    message_count: 3,
    messages: [
      { role: 'system', content: 'You are Hermes.' },
      { role: 'user', content: 'Only the filedsession has this sentence.' },
      { role: 'assistant', content: 'Noted.' },
    ],
  };
}

/** A state.db as hermes-agent writes it (core notes 2.4), schema 26 or 30, in either layout of its full-text tables. */

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
