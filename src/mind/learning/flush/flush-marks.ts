// Owns through which message each session was flushed, as rows of state.db, and whether so much is new that another flush pays.
// Knows no model. Invariant: what was flushed is not paid for again, also after a restart; what is left out is about what a
// compression leaves at the end as it is.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { messageTokens } from '#core/agent/compress/context-size.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';

export interface FlushMarks {
  /** Is there enough behind the last flush? */
  isDue(sessionId: string, messages: readonly StoredMessage[], window: number): boolean;
  flushed(sessionId: string, messages: readonly StoredMessage[]): Promise<void>;
}

/** New text under this, in tokens and as a share of the window, is not worth a call over the whole conversation. */
const LEAST_NEW = { tokens: 20_000, share: 0.2 };

export function createFlushMarks(database: Database, clock: Clock): FlushMarks {
  const throughOf = (sessionId: string) =>
    database.get<{ through: number }>('SELECT through_message AS through FROM flushes WHERE session_id = ?', sessionId)
      ?.through;
  return {
    isDue(sessionId, messages, window) {
      const through = throughOf(sessionId);
      if (through === undefined) return true;
      const fresh = messages.filter(({ id, message }) => id > through && !isSummary(message));
      const tokens = fresh.reduce((sum, { message }) => sum + messageTokens(message), 0);
      return tokens >= Math.min(LEAST_NEW.tokens, window * LEAST_NEW.share);
    },
    async flushed(sessionId, messages) {
      const through = messages.at(-1)?.id;
      if (through === undefined) return;
      await database.transaction(() =>
        database.run(
          `INSERT INTO flushes(session_id, through_message, at) VALUES(?, ?, ?)
           ON CONFLICT(session_id) DO UPDATE SET through_message = excluded.through_message, at = excluded.at`,
          sessionId,
          through,
          clock.now(),
        ),
      );
    },
  };
}

function isSummary({ parts }: StoredMessage['message']): boolean {
  return parts.some((part) => part.type === 'text' && part.label === 'summary');
}
