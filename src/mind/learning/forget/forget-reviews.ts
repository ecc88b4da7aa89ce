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
