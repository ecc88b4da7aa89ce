// Owns what reviews keep of a conversation that was forgotten: nothing in words; their counts stay for the budget.
// Invariant: inside the caller's transaction; a review that has not run yet never will, since there is nothing left to look at.
import type { Database } from '#base/database/connection.ts';

export function forgetReviews(database: Database, sessionIds: ReadonlySet<string>): number {
  return database.run(
    `UPDATE reviews SET hint = '', detail = NULL, status = CASE WHEN status IN ('due', 'running') THEN 'failed' ELSE status END
     WHERE session_id IN (SELECT value FROM json_each(?))`,
    JSON.stringify([...sessionIds]),
  ).changes;
}

/** Hints and reports of reviews that hold a text lose all their words. */
export function forgetHints(database: Database, holds: (text: string) => boolean): number {
  const rows = database
    .all<{ key: number; hint: string; detail: string | null }>('SELECT key, hint, detail FROM reviews')
    .filter(({ hint, detail }) => holds(hint) || holds(detail ?? ''));
  for (const { key } of rows) database.run("UPDATE reviews SET hint = '', detail = NULL WHERE key = ?", key);
  return rows.length;
}
