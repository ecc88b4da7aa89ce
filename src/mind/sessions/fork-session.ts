// Owns forking: a new session that starts with the live context and the prompt of another. Invariant: the original is not touched, and a
// copied message (`copy_of`) is not indexed again, so a search finds each sentence once.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { insertSession, needSession, type SessionRow } from './session-rows.ts';

/** Inside a transaction. Gives the new session. */
export function forkSession(database: Database, sessionId: string, clock: Clock): SessionRow {
  const parent = needSession(database, sessionId);
  const child = insertSession(
    database,
    {
      source: parent.source,
      cwd: parent.cwd,
      parentId: parent.id,
      ...(parent.user_id === null ? {} : { userId: parent.user_id }),
      ...(parent.chat_id === null ? {} : { chatId: parent.chat_id }),
      ...(parent.title === null ? {} : { title: parent.title }),
    },
    { clock },
  );
  const { changes } = database.run(
    `INSERT INTO messages(session, seq, role, speaker, at, body, text, copy_of)
     SELECT ?, row_number() OVER (ORDER BY coalesce(place, seq), seq), role, speaker, at, body, text, coalesce(copy_of, id)
     FROM messages WHERE session = ? AND active = 1 ORDER BY coalesce(place, seq), seq`,
    child.key,
    parent.key,
  );
  database.run(
    'UPDATE sessions SET message_count = ?, last_seq = ?, model = ?, prompt_hash = ? WHERE key = ?',
    changes,
    changes,
    parent.model,
    parent.prompt_hash,
    child.key,
  );
  return needSession(database, child.id);
}
