// Owns the tables of runs (notes 16, 22.8) and their history of versions. Knows no query. Texts are kept once, by hash, as bytes: a prompt
// may hold what SQLite's text would cut or change.
import type { RoomSchema } from '#base/database/migrate.ts';

const RUNS = `
CREATE TABLE rlm_runs(
  position INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  request TEXT NOT NULL,
  root TEXT NOT NULL,
  sources TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  state TEXT NOT NULL,
  outcome TEXT,
  state_hash TEXT,
  owner TEXT
);
CREATE INDEX rlm_runs_started ON rlm_runs(started_at, position);
CREATE TABLE rlm_events(
  run_id TEXT NOT NULL REFERENCES rlm_runs(run_id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  type TEXT NOT NULL,
  node_id TEXT,
  causal_parent_event_id TEXT,
  data TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY(run_id, seq)
) WITHOUT ROWID;
CREATE TABLE rlm_calls(
  position INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES rlm_runs(run_id) ON DELETE CASCADE,
  call_id TEXT NOT NULL,
  record TEXT NOT NULL,
  prompt TEXT NOT NULL,
  completion TEXT,
  system_prompt TEXT NOT NULL,
  UNIQUE(run_id, call_id)
);
CREATE TABLE rlm_texts(hash TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE rlm_run_texts(
  run_id TEXT NOT NULL REFERENCES rlm_runs(run_id) ON DELETE CASCADE,
  hash TEXT NOT NULL,
  PRIMARY KEY(run_id, hash)
) WITHOUT ROWID;
CREATE INDEX rlm_run_texts_hash ON rlm_run_texts(hash);
`;

export const traceSchema: RoomSchema = { room: 'rlm-trace', steps: [RUNS] };
