// Owns a compression's rows: originals leave the live context and stay searchable, what stands for them is put in at their place.
// Knows no summary. Invariant: all in one transaction; an inserted row (`place`) is neither counted nor indexed; the superseded one
// among the originals is gone for good, since the new one contains it. Serves seed 001 chapter 14.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { TalariaError } from '#base/errors.ts';
import type { Compaction, StoredMessage } from '#core/agent/session-store.ts';
import { encodeMessage } from './message-rows.ts';
import { sealsOf } from './origin-seal.ts';
import { writePrompt } from './prompt-rows.ts';
import { needSession } from './session-rows.ts';

/** Inside a transaction. Throws `no-such-message` when an id is not in the live context. */
export function compactSession(
  database: Database,
  sessionId: string,
  given: { readonly compaction: Compaction; readonly clock: Clock },
): readonly StoredMessage[] {
  const { ids, replacement, prompt } = given.compaction;
  const { key, last_seq: last } = needSession(database, sessionId);
  const at = given.clock.now();
  const place = retire(database, key, ids);
  const seals = sealsOf(database);
  const stored = replacement.map((message, index): StoredMessage => {
    const { role, body } = encodeMessage(message);
    const seq = last + index + 1;
    const { id } = database.run(
      "INSERT INTO messages(session, seq, role, at, body, text, place, seal) VALUES(?, ?, ?, ?, ?, '', ?, ?)",
      key,
      seq,
      role,
      at,
      body,
      place,
      seals.seal(sessionId.toWellFormed(), { seq, role, body }),
    );
    database.run('UPDATE sessions SET last_seq = ? WHERE key = ?', seq, key);
    return { id, sessionId, at, message };
  });
  if (prompt !== undefined) writePrompt(database, sessionId, prompt);
  return stored;
}

/** Gives the place of the last of them: what comes in stands there. */
function retire(database: Database, key: number, ids: readonly number[]): number {
  const wanted = JSON.stringify([...new Set(ids)]);
  // The plus keeps SQLite from reading all rows of the session for a handful of ids.
  const which = '+session = ? AND active = 1 AND id IN (SELECT value FROM json_each(?))';
  const last = database.get<{ place: number | null }>(
    `SELECT max(coalesce(place, seq)) AS place FROM messages WHERE ${which}`,
    key,
    wanted,
  )?.place;
  const { changes } = database.run(
    `UPDATE messages SET active = 0, compacted = (place IS NULL) WHERE ${which}`,
    key,
    wanted,
  );
  if (last === undefined || last === null || changes !== new Set(ids).size) {
    throw new TalariaError('a message to compact is not in the live context', { code: 'no-such-message' });
  }
  return last;
}
