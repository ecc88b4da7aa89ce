// Owns the tables of state.db that hold reviews and their drafts, what the owner was told of, agreed to and took back, and how far each session was
// flushed; and what reviews keep of a conversation that was forgotten: nothing in words, their counts stay for the budget.

import type { Database } from '#base/database/connection.ts';
import type { RoomSchema } from '#base/database.ts';
import type { Forgets, Forgot } from '#core/agent/room.ts';

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

/** Reviews of sessions that go, and those whose words hold a text, lose their words. */
export async function forgetReviews(database: Database, { sessions, holds }: Forgets): Promise<readonly Forgot[]> {
  database.exec('PRAGMA secure_delete = ON');
  const count = await database.transaction(() => {
    const { changes } = database.run(
      `UPDATE reviews SET hint = '', detail = NULL, status = CASE WHEN status IN ('due', 'running') THEN 'failed' ELSE status END
       WHERE session_id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(sessions.filter(({ whole }) => whole).map(({ id }) => id)),
    );
    const rows = holds
      ? database.all<{ key: number; hint: string; detail: string | null }>('SELECT key, hint, detail FROM reviews')
      : [];
    const held = rows.filter(({ hint, detail }) => holds?.(hint) || holds?.(detail ?? ''));
    for (const { key } of held) database.run("UPDATE reviews SET hint = '', detail = NULL WHERE key = ?", key);
    return changes + held.length;
  });
  return [{ name: 'reviews', count }];
}
