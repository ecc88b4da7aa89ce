// Owns forking: a new session that starts with the live context and the prompt of another. Invariant: the original is not touched, and a
// copied message (`copy_of`) is not indexed again, so a search finds each sentence once; only what was sealed is sealed again.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { SEALED, type SealedRow, sealsOf } from './origin-seal.ts';
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
  sealCopies(database, parent, child);
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

/** The copies stand in the order of the originals. */
function sealCopies(database: Database, parent: SessionRow, child: SessionRow): void {
  const seals = sealsOf(database);
  const originals = database.all<SealedRow>(
    `SELECT ${SEALED} FROM messages m WHERE m.session = ? AND m.active = 1 ORDER BY coalesce(m.place, m.seq), m.seq`,
    parent.key,
  );
  for (const [index, row] of originals.entries()) {
    if (!seals.holds(parent.id, row)) continue;
    const seq = index + 1;
    const seal = seals.seal(child.id, { ...row, seq });
    database.run('UPDATE messages SET seal = ? WHERE session = ? AND seq = ?', seal, child.key, seq);
  }
}
