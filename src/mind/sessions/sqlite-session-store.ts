// Owns the SessionStore on state.db: composes rows, lanes, leases and group commit. Knows no surface and no model.
// Invariant: `append` resolves after the durable commit of message and index row; damage of the derived index is mended, not reported as
// an empty past. Serves seed 001 chapter 7.
import { type Clock, systemClock } from '#base/clock.ts';
import { CommitQueue } from '#base/database/commit-queue.ts';
import type { Database } from '#base/database/connection.ts';
import type { RoomSchema } from '#base/database/migrate.ts';
import { type DatabaseNotice, openDatabase } from '#base/database.ts';
import { errorCode } from '#base/errors.ts';
import type { Result } from '#base/result.ts';
import type {
  Compaction,
  CostFilter,
  CostRow,
  FrozenPrompt,
  SessionFilter,
  SessionLease,
  SessionRecord,
  SessionStart,
  SessionStore,
  Span,
  StoredMessage,
} from '#core/agent/session-store.ts';
import type { Message } from '#core/model/message.ts';
import { appendMessage, type Lanes, type PreparedMessage, prepareMessage } from './append-message.ts';
import { compactSession } from './compact-session.ts';
import { forkSession } from './fork-session.ts';
import { checkIndex, ensureIndex, type IndexReport, rebuildIndex } from './index-upkeep.ts';
import { encodeMessage } from './message-rows.ts';
import { decodeSealed, SEALED, type SealedRow } from './origin-seal.ts';
import { readPrompt, writePrompt } from './prompt-rows.ts';
import { rewindSession } from './rewind-session.ts';
import { MessageSearch, type SearchHit, type SearchOptions } from './search/message-search.ts';
import { SearchLane } from './search/search-lane.ts';
import { LeaseKeeper } from './session-lease.ts';
import { findSession, insertSession, listSessions, needSession, sessionRecord } from './session-rows.ts';
import { sessionSchema } from './session-schema.ts';
import { insertSpans, readCosts, readSpans } from './span-rows.ts';

export interface SqliteSessionStoreOptions {
  /** Path of state.db. */
  readonly path: string;
  readonly clock?: Clock;
  readonly readOnly?: boolean;
  /** How long a write waits for other processes, ms. */
  readonly busyMs?: number;
  /** Tables that other rooms keep in the same file. */
  readonly rooms?: readonly RoomSchema[];
  /** Files that are there only once it was. */
  readonly traces?: () => readonly string[];
  /** Where writers show that they have the file open: after a crash it is looked at as a whole. */
  readonly flags?: string;
}

export interface AppendExtras {
  /** Default now. Epoch ms. */
  readonly at?: number;
  readonly speaker?: string;
}

export function createSqliteSessionStore(options: SqliteSessionStoreOptions): SqliteSessionStore {
  const clock = options.clock ?? systemClock;
  const { database, notices, unchecked } = openDatabase(options.path, {
    rooms: [sessionSchema, ...(options.rooms ?? [])],
    onNewer: 'read-only',
    onCorrupt: 'keep',
    clock,
    ...(options.traces === undefined ? {} : { traces: options.traces }),
    ...(options.flags === undefined ? {} : { flags: options.flags }),
    ...(options.readOnly === undefined ? {} : { readOnly: options.readOnly }),
    ...(options.busyMs === undefined ? {} : { busyMs: options.busyMs }),
  });
  return Object.assign(new SqliteSessionStore(database, notices, clock), unchecked ? { unchecked } : {});
}

export class SqliteSessionStore implements SessionStore {
  /** What the person must be told about the opening: quarantine, migration, a newer file. */
  readonly notices: readonly DatabaseNotice[];
  /** For the rooms above (evidence, memory) that keep tables in the same file, and for the search tool. */
  readonly database: Database;
  readonly clock: Clock;
  /** A process crashed with the file, and it is too large to be looked at by the opening: to be called once it was. */
  readonly unchecked?: () => void;
  readonly #lanes: Lanes;
  readonly #search: MessageSearch;
  readonly #queue: CommitQueue;
  readonly #leases: LeaseKeeper;

  /** Use `createSqliteSessionStore`. */
  constructor(database: Database, notices: readonly DatabaseNotice[], clock: Clock) {
    this.database = database;
    this.notices = notices;
    this.clock = clock;
    this.#lanes = { spoken: new SearchLane(database, 'spoken'), tool: new SearchLane(database, 'tool') };
    this.#search = new MessageSearch({ database, clock, ...this.#lanes });
    this.#queue = new CommitQueue(database);
    this.#leases = new LeaseKeeper(database, clock);
    if (!database.readOnly) ensureIndex(database, this.#lanes);
  }

  async create(start: SessionStart): Promise<SessionRecord> {
    return sessionRecord(await this.#writeLightly(() => insertSession(this.database, start, { clock: this.clock })));
  }

  /** As `create`, for an id that the caller brings; an existing session is left as it is. */
  async ensure(sessionId: string, start: SessionStart): Promise<SessionRecord> {
    const known = findSession(this.database, sessionId);
    if (known !== undefined) return sessionRecord(known);
    return sessionRecord(
      await this.#write(
        () =>
          findSession(this.database, sessionId) ??
          insertSession(this.database, start, { clock: this.clock, id: sessionId }),
      ),
    );
  }

  async get(sessionId: string): Promise<SessionRecord | undefined> {
    const row = findSession(this.database, sessionId);
    return row && sessionRecord(row);
  }

  async list(filter: SessionFilter = {}): Promise<readonly SessionRecord[]> {
    return listSessions(this.database, filter).map(sessionRecord);
  }

  async append(sessionId: string, message: Message, extras: AppendExtras = {}): Promise<StoredMessage> {
    const at = extras.at ?? this.clock.now();
    const encoded = encodeMessage(message);
    const prepared = prepareMessage({ sessionId: sessionId.toWellFormed(), encoded, speaker: extras.speaker, at });
    const id = await this.#appendMending(prepared);
    return { id, sessionId, at, message };
  }

  async #appendMending(prepared: PreparedMessage): Promise<number> {
    const append = () => appendMessage(this.database, this.#lanes, prepared);
    try {
      return await this.#write(append);
    } catch (error) {
      if (errorCode(error) !== 'database-corrupt') throw error;
      await this.repairIndex();
      return this.#write(append);
    }
  }

  async messages(sessionId: string): Promise<readonly StoredMessage[]> {
    const { key } = needSession(this.database, sessionId);
    const rows = this.database.all<SealedRow>(
      `SELECT ${SEALED} FROM messages m WHERE session = ? AND active = 1 ORDER BY coalesce(place, seq), seq`,
      key,
    );
    return rows.map((row) => decodeSealed(this.database, row, sessionId));
  }

  /** Any string is a legal question. */
  async search(question: string, options: SearchOptions = {}): Promise<readonly SearchHit[]> {
    try {
      return this.#search.search(question, options);
    } catch (error) {
      if (errorCode(error) !== 'database-corrupt' || this.database.readOnly) throw error;
      await this.repairIndex();
      return this.#search.search(question, options);
    }
  }

  compact(sessionId: string, compaction: Compaction): Promise<readonly StoredMessage[]> {
    return this.#write(() => compactSession(this.database, sessionId, { compaction, clock: this.clock }));
  }

  rewind(sessionId: string, messageId: number): Promise<number> {
    return this.#write(() => rewindSession(this.database, this.#lanes, { sessionId, messageId }));
  }

  savePrompt(sessionId: string, prompt: FrozenPrompt): Promise<string> {
    return this.#writeLightly(() => writePrompt(this.database, sessionId, prompt));
  }

  async loadPrompt(sessionId: string): Promise<FrozenPrompt | undefined> {
    return readPrompt(this.database, sessionId);
  }

  async setTitle(sessionId: string, title: string): Promise<void> {
    await this.#writeLightly(() => {
      const { key } = needSession(this.database, sessionId);
      this.database.run('UPDATE sessions SET title = ? WHERE key = ?', title.toWellFormed(), key);
    });
  }

  async end(sessionId: string): Promise<void> {
    await this.#writeLightly(() => {
      const { key } = needSession(this.database, sessionId);
      this.database.run('UPDATE sessions SET ended_at = ? WHERE key = ?', this.clock.now(), key);
    });
  }

  claim(sessionId: string): Promise<Result<SessionLease, 'owned-elsewhere' | 'no-such-session'>> {
    return this.#leases.claim(sessionId);
  }

  async fork(sessionId: string): Promise<SessionRecord> {
    return sessionRecord(await this.#write(() => forkSession(this.database, sessionId, this.clock)));
  }

  async recordSpans(spans: readonly Span[]): Promise<void> {
    if (spans.length > 0) await this.#writeLightly(() => insertSpans(this.database, spans));
  }

  async spans(sessionId: string): Promise<readonly Span[]> {
    return readSpans(this.database, sessionId);
  }

  async costs(filter: CostFilter = {}): Promise<readonly CostRow[]> {
    return readCosts(this.database, filter);
  }

  /** Do index and messages agree? Reads everything. */
  async checkIndex(): Promise<IndexReport> {
    return checkIndex(this.database);
  }

  /** Builds the search index anew from the messages. */
  async repairIndex(): Promise<void> {
    await this.database.transaction(() => rebuildIndex(this.database, this.#lanes));
  }

  /** Waits for what is being written, gives the leases back, closes. */
  async close(): Promise<void> {
    await this.#queue.settled();
    if (this.database.isClosed) return;
    await this.#leases.releaseAll();
    this.database.close();
  }

  #write<T>(work: () => T): Promise<T> {
    return this.#queue.commit(work);
  }

  /** For rows that mean nothing before a message follows, whose durable commit carries them along. */
  #writeLightly<T>(work: () => T): Promise<T> {
    return this.#queue.commitLightly(work);
  }
}
