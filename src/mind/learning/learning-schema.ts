// Owns the tables of state.db that hold reviews and their drafts, what the owner was told of, agreed to and took back, and how far each
// session was flushed. Knows no query.
// Invariant: a released step never changes. Serves seed 001 ch 13 and the rule that background work is drained or recorded.
import type { RoomSchema } from '#base/database/migrate.ts';

const REVIEWS = `
CREATE TABLE reviews(
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  reasons TEXT NOT NULL,
  hint TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL,
  through_message INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  runner TEXT,
  kept INTEGER NOT NULL DEFAULT 0,
  refused INTEGER NOT NULL DEFAULT 0,
  pending INTEGER NOT NULL DEFAULT 0,
  tokens INTEGER NOT NULL DEFAULT 0,
  cost REAL,
  model TEXT,
  detail TEXT,
  at INTEGER NOT NULL,
  ended_at INTEGER
);
CREATE INDEX reviews_by_session ON reviews(session_id);
CREATE INDEX reviews_by_status ON reviews(status);

CREATE TABLE announced(
  proposal TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE consents(
  name TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) WITHOUT ROWID;
`;

const DECIDED_LATER = `
ALTER TABLE reviews ADD COLUMN attended INTEGER NOT NULL DEFAULT 0;

CREATE TABLE review_drafts(
  proposal TEXT PRIMARY KEY,
  review TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE taken_back(
  proposal TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE flushes(
  session_id TEXT PRIMARY KEY,
  through_message INTEGER NOT NULL,
  at INTEGER NOT NULL
) WITHOUT ROWID;
`;

export const learningSchema: RoomSchema = { room: 'learning', steps: [REVIEWS, DECIDED_LATER] };
