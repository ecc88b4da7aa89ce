// Owns reading stored messages for others: single ones by id, for what cites them, and whole sessions for whoever learns from them afterwards, each
// message once, in the order in which it was said. Knows no citation and no reader. Invariants: a message that was forgotten or taken back is
// not there; one that was compressed away is; what a compression put in is no told message; told rows come one by one.

import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import type { Message } from '#core/model/message.ts';
import { decodeMessage, decodeSealed, type MessageRow, SEALED, type SealedRow } from './message-rows.ts';
import { isHeld } from './session-lease.ts';
import { selectSessions } from './session-rows.ts';

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

export interface ToldSession {
  /** Number of its row. */
  readonly key: number;
  readonly id: string;
  readonly source: string;
  /** A prompt of ours was sent in it: how its calls ended was observed, not told by another program. */
  readonly observed: boolean;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly lastActiveAt: number;
}

export interface ToldMessage {
  readonly at: number;
  readonly message: Message;
  /** It was said in the session that this one was forked from. */
  readonly copied: boolean;
}

/** Those active at `since` (epoch ms) or later. */
export function toldSessions(database: Database, since: number): readonly ToldSession[] {
  return selectSessions(database, 'WHERE last_active_at >= ?', since).map(({ promptHash, ...session }) => ({
    ...session,
    observed: promptHash !== undefined,
  }));
}

export function countSessionsBefore(database: Database, since: number): number {
  return database.get<{ n: number }>('SELECT count(*) AS n FROM sessions WHERE last_active_at < ?', since)?.n ?? 0;
}

export function hasToolMessages(database: Database): boolean {
  return database.get('SELECT 1 FROM tool_calls LIMIT 1') !== undefined;
}

/** Does a live process have it open, so that its last turn may still be running? */
export function isOpenElsewhere(database: Database, { key }: ToldSession, clock: Clock): boolean {
  return isHeld(database, key, clock);
}

/** Read it to its end or leave it at once. Throws TalariaError `database-corrupt` for a row that cannot be read. */
export function* toldMessages(database: Database, { key, id }: ToldSession): Generator<ToldMessage> {
  const rows = database.iterate<MessageRow & { readonly copy_of: number | null }>(
    `SELECT id, role, at, body, copy_of FROM messages
     WHERE session = ? AND place IS NULL AND (active = 1 OR compacted = 1) ORDER BY seq`,
    key,
  );
  for (const row of rows) yield { at: row.at, message: decodeMessage(row, id).message, copied: row.copy_of !== null };
}
