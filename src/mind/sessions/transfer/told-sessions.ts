// Owns reading whole stored sessions for whoever learns from them afterwards: each message that was said, once, in the order in which it
// was said. Knows no reader. Invariants: what a compression put in is left out, since its originals stand here; what was taken back is
// left out; rows come one by one, so that no session has to fit into memory.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { Message } from '#core/model/message.ts';
import { decodeMessage, type MessageRow } from '../message-rows.ts';
import { isHeld } from '../session-lease.ts';

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

interface SessionColumns {
  readonly key: number;
  readonly id: string;
  readonly source: string;
  readonly prompt_hash: string | null;
  readonly started_at: number;
  readonly last_active_at: number;
}

/** Those active at `since` (epoch ms) or later. */
export function toldSessions(database: Database, since: number): readonly ToldSession[] {
  return database
    .all<SessionColumns>(
      'SELECT key, id, source, prompt_hash, started_at, last_active_at FROM sessions WHERE last_active_at >= ?',
      since,
    )
    .map((row) => ({
      key: row.key,
      id: row.id,
      source: row.source,
      observed: row.prompt_hash !== null,
      startedAt: row.started_at,
      lastActiveAt: row.last_active_at,
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
