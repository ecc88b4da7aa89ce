// Owns the small door to stored conversations for embedding programs (`talaria/sessions`): append and search, nothing else of the agent.
// Invariant: what `append` resolved is durable and found by the next `search`; any string is a legal query.
import { parseTime } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import type { Message } from '#core/model/message.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from './sqlite-session-store.ts';

export interface SessionMessage {
  /** Any name; the session is made when it is new. */
  readonly sessionId: string;
  /** `user`, `assistant`, `tool`; any other word is kept as the speaker of a user message. */
  readonly role: string;
  readonly content: string;
  /** Epoch milliseconds (numbers below 1e11 are seconds), ISO text, or a Date; default now. */
  readonly timestamp?: number | string | { getTime(): number };
  readonly speaker?: string;
}

export interface SessionSearchResult {
  readonly sessionId: string;
  readonly messageId: number;
  readonly score: number;
  /** Verbatim cut, matched words between `>>>` and `<<<`. */
  readonly snippet: string;
}

export interface Sessions {
  /** Rejects with TalariaError (`disk-full`, `database-locked`, `invalid-message`, …). */
  append(message: SessionMessage): Promise<{ readonly messageId: number }>;
  /** Best first; `limit` default 10. */
  search(query: string, options?: { readonly limit?: number }): Promise<SessionSearchResult[]>;
  close(): Promise<void>;
}

const SECONDS_BELOW = 1e11;
const ROLES = ['user', 'assistant', 'tool'];

/** Opens or makes the database file. Throws TalariaError. */
export function openSessions(dbPath: string): Sessions {
  const store = createSqliteSessionStore({ path: dbPath });
  const known = new Map<string, Promise<unknown>>();
  return {
    append: async (message) => {
      const { sessionId } = message;
      if (typeof sessionId !== 'string' || typeof message.content !== 'string' || typeof message.role !== 'string') {
        throw new TalariaError('sessionId, role and content must be strings', { code: 'invalid-message' });
      }
      await ensureOnce(store, known, sessionId);
      const stored = await store.append(sessionId, asMessage(message), extras(message));
      return { messageId: stored.id };
    },
    search: async (query, options = {}) => {
      const hits = await store.search(String(query), { roles: ROLES, limit: options.limit ?? 10 });
      return hits.map(({ sessionId, messageId, score, snippet }) => ({ sessionId, messageId, score, snippet }));
    },
    close: () => store.close(),
  };
}

const MOST_REMEMBERED = 10_000;

/** A session is looked for once a process, not once a message. */
async function ensureOnce(
  store: SqliteSessionStore,
  known: Map<string, Promise<unknown>>,
  sessionId: string,
): Promise<void> {
  let ensured = known.get(sessionId);
  if (ensured === undefined) {
    if (known.size >= MOST_REMEMBERED) known.clear();
    ensured = store.ensure(sessionId, { source: 'api', cwd: '' });
    known.set(sessionId, ensured);
    ensured.catch(() => known.delete(sessionId));
  }
  await ensured;
}

function asMessage({ role, content }: SessionMessage): Message {
  if (role === 'assistant') {
    return { role, model: 'unknown', parts: [{ type: 'text', text: content, origin: 'model' }] };
  }
  if (role !== 'tool') return { role: 'user', parts: [{ type: 'text', text: content, origin: 'owner' }] };
  const observed = { ms: 0, bytes: Buffer.byteLength(content) };
  const result = { type: 'tool-result', callId: '', name: '', text: content, isError: false, observed } as const;
  return { role, parts: [{ ...result, origin: 'foreign' }] };
}

function extras(message: SessionMessage): { at?: number; speaker?: string } {
  const at = epochMs(message.timestamp);
  const speaker = message.speaker ?? (ROLES.includes(message.role) ? undefined : message.role);
  return { ...(at === undefined ? {} : { at }), ...(speaker === undefined ? {} : { speaker: speaker.toWellFormed() }) };
}

function epochMs(timestamp: SessionMessage['timestamp']): number | undefined {
  if (timestamp === undefined) return undefined;
  const value = typeof timestamp === 'string' ? parseTime(timestamp) : Number(timestamp);
  if (value === undefined || !Number.isFinite(value)) {
    throw new TalariaError(`timestamp is no time: ${String(timestamp).slice(0, 60)}`, { code: 'invalid-message' });
  }
  return Math.round(Math.abs(value) < SECONDS_BELOW ? value * 1000 : value);
}
