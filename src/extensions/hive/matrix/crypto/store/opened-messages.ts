// Owns which event each message key was first read under, so that a server cannot show a message again as a new one. Knows no cryptography
// and no text: rows hold digests. Invariant: of two events with one message key only the first that was read is ever read.
import { createHash } from 'node:crypto';
import type { Database } from '#base/database/connection.ts';

/** No honest session holds more messages: its sender begins another one before. */
const MOST = 10_000;

export interface OpenedMessage {
  readonly roomId: string;
  readonly sessionId: string;
  /** Of the message in its session. */
  readonly index: number;
  readonly eventId: string;
}

export class OpenedMessages {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** False: this message was read under another event before. A power cut may make us forget the last ones. */
  async claim({ roomId, sessionId, index, eventId }: OpenedMessage): Promise<boolean> {
    const session = digest(JSON.stringify([roomId, sessionId]));
    const event = digest(eventId);
    const first = this.#first(session, index);
    if (first !== undefined) return event.equals(first);
    return this.#database.lightTransaction(() => {
      const sql = 'SELECT count(*) AS count FROM opened WHERE session = ?';
      if ((this.#database.get<{ count: number }>(sql, session)?.count ?? 0) >= MOST) return false;
      this.#database.run('INSERT OR IGNORE INTO opened VALUES(?, ?, ?)', session, index, event);
      return event.equals(this.#first(session, index) ?? event);
    });
  }

  #first(session: Uint8Array, index: number): Uint8Array | undefined {
    const sql = 'SELECT event FROM opened WHERE session = ? AND place = ?';
    return this.#database.get<{ event: Uint8Array }>(sql, session, index)?.event;
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, 16);
}
