// Owns the tables of state.db that hold conversations, and their history of versions. Knows no query. Invariant: a released step never
// changes; what is a fact is in messages, tool_calls, usage and spans, everything named *_terms, *_index, *_words is derived from them.
// Serves seed 001 chapter 7 (session memory: SQLite and FTS5).
import type { RoomSchema } from '#base/database.ts';
import { beginSeals } from './message-rows.ts';
import { laneTables } from './search/search-lane.ts';

const CONVERSATIONS = `
CREATE TABLE prompts(
  hash TEXT PRIMARY KEY,
  system TEXT NOT NULL,
  tools TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE sessions(
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  source TEXT NOT NULL,
  user_id TEXT,
  chat_id TEXT,
  title TEXT,
  parent_id TEXT,
  cwd TEXT NOT NULL,
  model TEXT,
  prompt_hash TEXT REFERENCES prompts(hash),
  started_at INTEGER NOT NULL,
  last_active_at INTEGER NOT NULL,
  ended_at INTEGER,
  message_count INTEGER NOT NULL DEFAULT 0,
  tool_call_count INTEGER NOT NULL DEFAULT 0,
  last_seq INTEGER NOT NULL DEFAULT 0,
  last_spoken INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX sessions_by_parent ON sessions(parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE leases(
  session INTEGER PRIMARY KEY REFERENCES sessions(key) ON DELETE CASCADE,
  holder TEXT NOT NULL,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  heartbeat INTEGER NOT NULL
);

CREATE TABLE messages(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES sessions(key) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  role TEXT NOT NULL,
  speaker TEXT,
  at INTEGER NOT NULL,
  body TEXT NOT NULL,
  text TEXT NOT NULL,
  active INTEGER NOT NULL DEFAULT 1,
  compacted INTEGER NOT NULL DEFAULT 0,
  copy_of INTEGER
);
CREATE UNIQUE INDEX messages_by_session ON messages(session, seq);

CREATE TABLE tool_calls(
  message_id INTEGER NOT NULL REFERENCES messages(id) ON DELETE CASCADE,
  call_id TEXT NOT NULL,
  session INTEGER NOT NULL REFERENCES sessions(key) ON DELETE CASCADE,
  name TEXT NOT NULL,
  arguments TEXT NOT NULL,
  result_id INTEGER REFERENCES messages(id) ON DELETE SET NULL,
  is_error INTEGER,
  exit_code INTEGER,
  ms REAL,
  bytes INTEGER,
  refused TEXT,
  PRIMARY KEY(message_id, call_id)
) WITHOUT ROWID;
CREATE INDEX tool_calls_by_call ON tool_calls(session, call_id);
CREATE INDEX tool_calls_by_result ON tool_calls(result_id) WHERE result_id IS NOT NULL;

CREATE TABLE usage(
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  at INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  purpose TEXT NOT NULL,
  model TEXT NOT NULL,
  tier TEXT,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cost REAL
);
CREATE INDEX usage_by_session ON usage(session);
CREATE INDEX usage_by_time ON usage(at);

CREATE TABLE spans(
  id TEXT PRIMARY KEY,
  parent_id TEXT,
  session INTEGER NOT NULL REFERENCES sessions(key) ON DELETE CASCADE,
  turn INTEGER NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  started_at REAL NOT NULL,
  ms REAL NOT NULL,
  status TEXT NOT NULL,
  detail TEXT,
  extra TEXT
);
CREATE INDEX spans_by_session ON spans(session, started_at);

CREATE TABLE speakers(
  name TEXT PRIMARY KEY
) WITHOUT ROWID;
`;

/** Where a row stands that was put in later: behind the row of this `seq`. Absent: at its own. */
const PLACES = 'ALTER TABLE messages ADD COLUMN place INTEGER';

/** The chats and people of a channel are looked up at each of their messages. */
const CHATS = `
CREATE INDEX sessions_by_chat ON sessions(chat_id, last_active_at) WHERE chat_id IS NOT NULL;
CREATE INDEX sessions_by_user ON sessions(user_id, last_active_at) WHERE user_id IS NOT NULL;
`;

export const sessionSchema: RoomSchema = {
  room: 'sessions',
  steps: [CONVERSATIONS + laneTables('spoken') + laneTables('tool'), PLACES, beginSeals, CHATS],
};
