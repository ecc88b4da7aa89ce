// Owns the three tables of evidence.sqlite (curator notes 2) and their history of versions. Knows no query. Everything here is derived or
// bulky: the file may be quarantined, pruned, dropped and filled again. Beside the notes' columns: a unique key of the event, so that a
// live row and one filled in later never count twice; the original's error verdict; the skill that was active.
import type { RoomSchema } from '#base/database/migrate.ts';

const EVENTS = `
CREATE TABLE tool_events(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created_at TEXT NOT NULL,
  session_id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  tool_name TEXT NOT NULL,
  duration_ms INTEGER,
  is_error INTEGER NOT NULL,
  skill_name TEXT,
  args_json TEXT NOT NULL,
  result_preview TEXT NOT NULL,
  event_key TEXT NOT NULL UNIQUE,
  is_error_upstream INTEGER NOT NULL,
  active_skill TEXT
);
CREATE INDEX idx_tool_events_created ON tool_events(created_at);
CREATE INDEX idx_tool_events_skill ON tool_events(skill_name);
CREATE INDEX idx_tool_events_active ON tool_events(active_skill);
CREATE INDEX idx_tool_events_backfill_key ON tool_events(session_id, task_id, tool_name);

CREATE TABLE turn_events(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created_at TEXT NOT NULL,
  session_id TEXT NOT NULL,
  model TEXT NOT NULL,
  platform TEXT NOT NULL,
  user_preview TEXT NOT NULL,
  assistant_preview TEXT NOT NULL,
  event_key TEXT NOT NULL UNIQUE
);
CREATE INDEX idx_turn_events_created ON turn_events(created_at);
CREATE INDEX idx_turn_events_session ON turn_events(session_id);

CREATE TABLE session_events(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created_at TEXT NOT NULL,
  session_id TEXT NOT NULL,
  completed INTEGER NOT NULL,
  interrupted INTEGER NOT NULL,
  model TEXT NOT NULL,
  platform TEXT NOT NULL,
  event_key TEXT NOT NULL UNIQUE
);
CREATE INDEX idx_session_events_created ON session_events(created_at);
CREATE INDEX idx_session_events_session ON session_events(session_id);
`;

/** Counts by skill and tool are answered from it alone: a report reads no arguments and no preview of what it does not show. */
const TALLIES = `
CREATE INDEX idx_tool_events_tally ON tool_events(coalesce(skill_name, active_skill), tool_name, is_error, created_at);
`;

/** Every question about a skill asks for the one that was named, else the active one: the tallies answer it. */
const NO_ACTIVE = 'DROP INDEX idx_tool_events_active;';

export const ledgerSchema: RoomSchema = { room: 'ledger', steps: [EVENTS, TALLIES, NO_ACTIVE] };
