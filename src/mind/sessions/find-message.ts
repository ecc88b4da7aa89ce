// Owns looking up single stored messages by id, for what cites them. Knows no citation. Invariant: a message that was forgotten or
// withdrawn by its owner is not there; one that was compressed away still is.
import type { Database } from '#base/database/connection.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import { decodeSealed, SEALED, type SealedRow } from './origin-seal.ts';

interface FoundRow extends SealedRow {
  readonly session_id: string;
}

const SELECT = `SELECT ${SEALED}, s.id AS session_id FROM messages m JOIN sessions s ON s.key = m.session
  WHERE (m.active = 1 OR m.compacted = 1)`;

export function findMessage(database: Database, id: number): StoredMessage | undefined {
  const row = database.get<FoundRow>(`${SELECT} AND m.id = ?`, id);
  return row && decodeSealed(database, row, row.session_id);
}

/** Everything that was said in a session and stands, oldest first, also what a compression took out of the model's sight. */
export function sessionMessages(database: Database, sessionId: string): readonly StoredMessage[] {
  const rows = database.all<FoundRow>(`${SELECT} AND s.id = ? ORDER BY m.seq`, sessionId.toWellFormed());
  return rows.map((row) => decodeSealed(database, row, row.session_id));
}

/** The newest first. */
export function lastMessages(database: Database, sessionId: string, limit: number): readonly StoredMessage[] {
  const rows = database.all<FoundRow>(
    `${SELECT} AND s.id = ? ORDER BY m.seq DESC LIMIT ?`,
    sessionId.toWellFormed(),
    limit,
  );
  return rows.map((row) => decodeSealed(database, row, row.session_id));
}
