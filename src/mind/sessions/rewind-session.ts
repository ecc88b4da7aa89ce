// Owns taking a session back to before a message: it and all after it are in no context and in no search, but stay in the file.
// Invariant: going back behind a compression brings its originals back, so that nothing of the time after speaks through a summary;
// index, statistics and counters change in the same transaction.
import type { Database } from '#base/database/connection.ts';
import { TalariaError } from '#base/errors.ts';
import type { Lanes } from './append-message.ts';
import { needSession } from './session-rows.ts';

interface Row {
  readonly id: number;
  readonly inserted: number;
  readonly calls: number;
}

/** Inside a transaction. Gives the number of messages taken back. Throws `no-such-message`. */
export function rewindSession(database: Database, lanes: Lanes, at: { sessionId: string; messageId: number }): number {
  const { key } = needSession(database, at.sessionId);
  const from = database.get<{ seq: number }>(
    'SELECT seq FROM messages WHERE session = ? AND id = ? AND (active = 1 OR compacted = 1) AND place IS NULL',
    key,
    at.messageId,
  )?.seq;
  if (from === undefined) {
    throw new TalariaError(`there is no message ${at.messageId} in ${at.sessionId}`, { code: 'no-such-message' });
  }
  const rows = database.all<Row>(
    `SELECT id, place IS NOT NULL AS inserted, (SELECT count(*) FROM tool_calls WHERE message_id = messages.id) AS calls
     FROM messages WHERE session = ? AND coalesce(place, seq) >= ? AND (active = 1 OR compacted = 1)`,
    key,
    from,
  );
  const summarised = rows.some((row) => row.inserted === 1);
  database.run(
    'UPDATE messages SET active = 0, compacted = 0 WHERE session = ? AND coalesce(place, seq) >= ?',
    key,
    from,
  );
  if (summarised)
    database.run(
      'UPDATE messages SET active = 1, compacted = 0 WHERE session = ? AND compacted = 1 AND place IS NULL',
      key,
    );
  for (const { id } of rows) {
    lanes.spoken.remove(id);
    lanes.tool.remove(id);
  }
  const told = rows.filter((row) => row.inserted === 0);
  const calls = told.reduce((sum, row) => sum + row.calls, 0);
  database.run(
    'UPDATE sessions SET message_count = message_count - ?, tool_call_count = tool_call_count - ? WHERE key = ?',
    told.length,
    calls,
    key,
  );
  return told.length;
}
