// Owns the SessionStore on state.db: composes rows, lanes, leases and group commit. Knows no surface and no model.
// Invariant: `append` resolves after the durable commit of message and index row; damage of the derived index is mended, not reported as
// an empty past. Serves seed 001 chapter 7.
import { type Clock, systemClock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { CommitQueue } from '#base/database/write-log.ts';
import { type DatabaseNotice, openDatabase, type RoomSchema } from '#base/database.ts';
import { errorCode, TalariaError } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
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
import {
  appendMessage,
  checkIndex,
  ensureIndex,
  type IndexReport,
  type Lanes,
  type PreparedMessage,
  prepareMessage,
  rebuildIndex,
} from './append-message.ts';
import { decodeSealed, encodeMessage, SEALED, type SealedRow, sealsOf, storedJson } from './message-rows.ts';
import { MessageSearch, type SearchHit, type SearchOptions } from './search/message-search.ts';
import { SearchLane } from './search/search-lane.ts';
import { LeaseKeeper } from './session-lease.ts';
import {
  findSession,
  insertSession,
  listSessions,
  needSession,
  type SessionRow,
  sessionRecord,
} from './session-rows.ts';
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
  /** Made with the first question. */
  #search: MessageSearch | undefined;
  readonly #queue: CommitQueue;
  readonly #leases: LeaseKeeper;

  /** Use `createSqliteSessionStore`. */
  constructor(database: Database, notices: readonly DatabaseNotice[], clock: Clock) {
    this.database = database;
    this.notices = notices;
    this.clock = clock;
    this.#lanes = { spoken: new SearchLane(database, 'spoken'), tool: new SearchLane(database, 'tool') };
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
    const { database, clock } = this;
    this.#search ??= new MessageSearch({ database, clock, ...this.#lanes });
    try {
      return this.#search.search(question, options);
    } catch (error) {
      if (errorCode(error) !== 'database-corrupt' || database.readOnly) throw error;
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

// Forking: a new session that starts with the live context and the prompt of another. Invariant: the original is not touched, and a
// copied message (`copy_of`) is not indexed again, so a search finds each sentence once; only what was sealed is sealed again.

/** Inside a transaction. Gives the new session. */
function forkSession(database: Database, sessionId: string, clock: Clock): SessionRow {
  const parent = needSession(database, sessionId);
  const { id: parentId, ...start } = parent;
  const child = insertSession(database, { ...start, parentId }, { clock });
  const { changes } = database.run(
    `INSERT INTO messages(session, seq, role, speaker, at, body, text, copy_of)
     SELECT ?, row_number() OVER (ORDER BY coalesce(place, seq), seq), role, speaker, at, body, text, coalesce(copy_of, id)
     FROM messages WHERE session = ? AND active = 1 ORDER BY coalesce(place, seq), seq`,
    child.key,
    parent.key,
  );
  sealCopies(database, parent, child);
  database.run(
    'UPDATE sessions SET message_count = ?, last_seq = ?, prompt_hash = ? WHERE key = ?',
    ...[changes, changes, parent.promptHash ?? null, child.key],
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

// Taking a session back to before a message: it and all after it are in no context and in no search, but stay in the file.
// Invariant: going back behind a compression brings its originals back, so that nothing of the time after speaks through a summary;
// index, statistics and counters change in the same transaction.

interface Row {
  readonly id: number;
  readonly inserted: number;
  readonly calls: number;
}

/** Inside a transaction. Gives the number of messages taken back. Throws `no-such-message`. */
function rewindSession(database: Database, lanes: Lanes, at: { sessionId: string; messageId: number }): number {
  const { key } = needSession(database, at.sessionId);
  const from = database.get<{ seq: number }>(
    'SELECT seq FROM messages WHERE session = ? AND id = ? AND (active = 1 OR compacted = 1) AND place IS NULL',
    key,
    at.messageId,
  )?.seq;
  if (from === undefined) {
    throw new TalariaError(`there is no message ${at.messageId} in ${at.sessionId}`, { code: 'no-such-message' });
  }
  const rows = database.all<Row>(
    `SELECT id, place IS NOT NULL AS inserted, (SELECT count(*) FROM tool_calls WHERE message_id = messages.id) AS calls
     FROM messages WHERE session = ? AND coalesce(place, seq) >= ? AND (active = 1 OR compacted = 1)`,
    key,
    from,
  );
  const summarised = rows.some((row) => row.inserted === 1);
  database.run(
    'UPDATE messages SET active = 0, compacted = 0 WHERE session = ? AND coalesce(place, seq) >= ?',
    key,
    from,
  );
  if (summarised)
    database.run(
      'UPDATE messages SET active = 1, compacted = 0 WHERE session = ? AND compacted = 1 AND place IS NULL',
      key,
    );
  for (const { id } of rows) {
    lanes.spoken.remove(id);
    lanes.tool.remove(id);
  }
  const told = rows.filter((row) => row.inserted === 0);
  const calls = told.reduce((sum, row) => sum + row.calls, 0);
  database.run(
    'UPDATE sessions SET message_count = message_count - ?, tool_call_count = tool_call_count - ? WHERE key = ?',
    told.length,
    calls,
    key,
  );
  return told.length;
}

// A compression's rows: originals leave the live context and stay searchable, what stands for them is put in at their place.
// Knows no summary. Invariant: all in one transaction; an inserted row (`place`) is neither counted nor indexed; the superseded one
// among the originals is gone for good, since the new one contains it. Serves seed 001 chapter 14.

/** Inside a transaction. Throws `no-such-message` when an id is not in the live context. */
function compactSession(
  database: Database,
  sessionId: string,
  given: { readonly compaction: Compaction; readonly clock: Clock },
): readonly StoredMessage[] {
  const { ids, replacement, prompt } = given.compaction;
  const { key } = needSession(database, sessionId);
  const last = lastSeq(database, key);
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

function lastSeq(database: Database, key: number): number {
  return database.get<{ seq: number }>('SELECT last_seq AS seq FROM sessions WHERE key = ?', key)?.seq ?? 0;
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

// Frozen prompts by hash: many sessions share one. Invariant: a prompt comes back byte for byte as it was saved.

/** Inside a transaction. Gives the hash. */
function writePrompt(database: Database, sessionId: string, prompt: FrozenPrompt): string {
  const system = prompt.system.toWellFormed();
  const tools = JSON.stringify(prompt.tools);
  const hash = sha256(`${system}\0${tools}`);
  database.run('INSERT OR IGNORE INTO prompts(hash, system, tools) VALUES(?, ?, ?)', hash, system, tools);
  const { key } = needSession(database, sessionId);
  database.run('UPDATE sessions SET prompt_hash = ? WHERE key = ?', hash, key);
  return hash;
}

function readPrompt(database: Database, sessionId: string): FrozenPrompt | undefined {
  const { promptHash: hash } = needSession(database, sessionId);
  if (hash === undefined) return undefined;
  const row = database.get<{ system: string; tools: string }>('SELECT system, tools FROM prompts WHERE hash = ?', hash);
  return row && { system: row.system, tools: storedJson<FrozenPrompt['tools']>(row.tools, `prompt ${hash}`) };
}
