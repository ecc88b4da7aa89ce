// Owns the store of runs, `rlm/runs.sqlite` (notes 16, 22.8): its tables, how rows, events, calls and texts stand in them, who works on a run. Many
// processes share it; what is not kept is the same in memory. Invariants: one process works on a run; what a write returned from survives the
// process and a power cut; a run's rows are a beginning of it at any moment; reading makes no file; a damaged file is kept aside by who writes
// and said to be damaged by who reads. A process that is gone holds no run; one on another machine counts as alive.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '#base/clock.ts';
import { Database } from '#base/database/connection.ts';
import {
  type DatabaseNotice,
  migrate,
  type OpenedDatabase,
  openDatabase,
  openVersions,
  type RoomSchema,
} from '#base/database.ts';
import { errorCode, TalariaError } from '#base/errors.ts';
import { newId } from '#base/ids.ts';
import { canonicalJson, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { holderName, holderState, holderWords } from '#base/process/holder.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { eraseFreed } from '#mind/sessions/sweep-text.ts';
import type { CallRecord } from '../call/call-record.ts';
import { LiveTrace, type RunTrace, type TraceBatch } from './live-trace.ts';
import { eventId, type NewRun, type RunEvent, type RunEventType, type RunRow, textHash } from './run-record.ts';

/** Texts are kept once, by hash, as bytes: a prompt may hold what SQLite's text would cut or change. */
const RUNS = `
CREATE TABLE rlm_runs(
  position INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  request TEXT NOT NULL,
  root TEXT NOT NULL,
  sources TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  state TEXT NOT NULL,
  outcome TEXT,
  state_hash TEXT,
  owner TEXT
);
CREATE INDEX rlm_runs_started ON rlm_runs(started_at, position);
CREATE TABLE rlm_events(
  run_id TEXT NOT NULL REFERENCES rlm_runs(run_id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  type TEXT NOT NULL,
  node_id TEXT,
  causal_parent_event_id TEXT,
  data TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY(run_id, seq)
) WITHOUT ROWID;
CREATE TABLE rlm_calls(
  position INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES rlm_runs(run_id) ON DELETE CASCADE,
  call_id TEXT NOT NULL,
  record TEXT NOT NULL,
  prompt TEXT NOT NULL,
  completion TEXT,
  system_prompt TEXT NOT NULL,
  UNIQUE(run_id, call_id)
);
CREATE TABLE rlm_texts(hash TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE rlm_run_texts(
  run_id TEXT NOT NULL REFERENCES rlm_runs(run_id) ON DELETE CASCADE,
  hash TEXT NOT NULL,
  PRIMARY KEY(run_id, hash)
) WITHOUT ROWID;
CREATE INDEX rlm_run_texts_hash ON rlm_run_texts(hash);
`;

const traceSchema: RoomSchema = { room: 'rlm-trace', steps: [RUNS] };

export function traceStorePath(home: string): string {
  return join(home, 'rlm', 'runs.sqlite');
}

/** Below it lies what was piped into a run. */
export function contextFolder({ home, run_id }: { readonly home: string; readonly run_id: string }): string {
  return join(home, 'rlm', 'contexts', run_id);
}

/** `readOnly`: nothing is written, and no file is made; a newer file is only read. Throws TalariaError as `openDatabase`. */
export function openTraceStore(
  home: string,
  { clock = systemClock, readOnly = false }: { readonly clock?: Clock; readonly readOnly?: boolean } = {},
): TraceStore {
  const path = traceStorePath(home);
  if (readOnly && !existsSync(path)) return memoryTraceStore(clock);
  const opened = readOnly ? openToRead(path, clock) : openDatabase(path, { rooms: [traceSchema], clock });
  return new TraceStore(opened, clock);
}

/** For what is not to be kept. */
export function memoryTraceStore(clock: Clock = systemClock): TraceStore {
  const database = new Database(':memory:', { readOnly: false, clock, busyMs: 0 });
  migrate(database, [traceSchema], clock);
  return new TraceStore({ database, notices: [] }, clock);
}

function openToRead(path: string, clock: Clock): OpenedDatabase {
  try {
    const opened = openDatabase(path, { rooms: [traceSchema], readOnly: true, clock });
    // Older tables are brought up first, which is a write.
    const version = openVersions(opened.database, [traceSchema]).versions.get(traceSchema.room) ?? 0;
    if (version >= traceSchema.steps.length) return opened;
    opened.database.close();
  } catch (error) {
    if (errorCode(error) !== 'database-corrupt') throw error;
    throw new TalariaError(`${path} is no database that can be read.`, {
      code: 'database-corrupt',
      cause: error,
      fix: 'The next run keeps it aside and says where; the runs in it are not lost by that.',
    });
  }
  return openDatabase(path, { rooms: [traceSchema], clock });
}

/** `<store>\n<run>` of every run that this very process works on. */
const held = new Set<string>();

export interface PruneOptions {
  /** The newest so many stay whatever their age. */
  readonly keep?: number;
  /** Also runs that were killed and that nobody has gone on with. */
  readonly killed?: boolean;
  /** Only tells. */
  readonly dryRun?: boolean;
}

export class TraceStore {
  /** What the person must be told. */
  readonly notices: readonly DatabaseNotice[];
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #name: string;
  readonly #live = new Map<string, LiveTrace>();

  constructor({ database, notices }: OpenedDatabase, clock: Clock) {
    this.#database = database;
    this.notices = notices;
    this.#clock = clock;
    this.#name = database.path === ':memory:' ? newId('memory') : database.path;
  }

  /** The row, and with it the texts that its request names: without them nobody could go on with it. */
  begin(run: NewRun, texts: readonly string[] = []): RunTrace {
    const { run_id, kind, request, root, sources } = run;
    this.#database.transactionSync(() => {
      if (this.#row(run_id) !== undefined)
        throw new TalariaError(`There is a run ${run_id} already.`, { code: 'run-exists' });
      this.#database.run(
        `INSERT INTO rlm_runs(run_id, kind, request, root, sources, started_at, state, owner) VALUES(?, ?, ?, ?, ?, ?, 'running', ?)`,
        ...[run_id, kind, canonicalJson(request), root, canonicalJson(sources as unknown as JsonValue)],
        ...[this.#clock.now(), holderName()],
      );
      for (const text of texts) this.#keepText(run_id, text);
    });
    return this.#open(run_id, []);
  }

  /** Goes on with a run whose process is gone. `takeOver`: it is known to be gone although nobody here can tell. */
  reopen(
    run_id: string,
    { takeOver = false }: { readonly takeOver?: boolean } = {},
  ): Result<RunTrace, 'run-not-found' | 'run-ended' | 'run-alive'> {
    const refused = this.#database.transactionSync(() => {
      const row = this.#row(run_id);
      if (row === undefined) return refuse('run-not-found', `There is no run ${run_id}.`);
      if (row.ended_at !== null) return refuse('run-ended', `The run ${run_id} has ended.`);
      if (!takeOver && this.#isAlive(row))
        return refuse('run-alive', `${run_id} is worked on by ${holderWords(row.owner ?? '')}.`);
      this.#database.run('UPDATE rlm_runs SET owner = ? WHERE run_id = ?', holderName(), run_id);
      return null;
    });
    return refused ?? ok(this.#open(run_id, this.events(run_id)));
  }

  #open(run_id: string, stored: readonly RunEvent[]): RunTrace {
    held.add(`${this.#name}\n${run_id}`);
    const onEnd = () => this.#release(run_id);
    const trace = new LiveTrace({ run_id, stored, store: this, clock: this.#clock, onEnd });
    this.#live.set(run_id, trace);
    return trace;
  }

  #release(run_id: string): void {
    held.delete(`${this.#name}\n${run_id}`);
    this.#live.delete(run_id);
  }

  #isAlive({ owner, run_id }: RunRow): boolean {
    if (owner === null) return false;
    const here = holderName();
    // Once a name told number and host alone.
    const isHere = owner === here || owner === here.split(' ').slice(0, 2).join(' ');
    return isHere ? held.has(`${this.#name}\n${run_id}`) : holderState(owner) !== 'gone';
  }

  write(run_id: string, { events, texts, call, end }: TraceBatch): void {
    const database = this.#database;
    database.transactionSync(() => {
      this.#refuseLost(run_id);
      for (const { seq, type, node_id, causal_parent_event_id, data, at } of events)
        database.run(
          'INSERT INTO rlm_events(run_id, seq, type, node_id, causal_parent_event_id, data, at) VALUES(?, ?, ?, ?, ?, ?, ?)',
          ...[run_id, seq, type, node_id, causal_parent_event_id, canonicalJson(data), at],
        );
      for (const text of texts.values()) this.#keepText(run_id, text);
      if (call !== undefined) this.#saveCall(run_id, call);
      if (end !== undefined)
        database.run(
          'UPDATE rlm_runs SET state = ?, outcome = ?, state_hash = ?, ended_at = ?, owner = NULL WHERE run_id = ?',
          ...[end.state, canonicalJson(end.outcome), end.state_hash, end.ended_at, run_id],
        );
    });
  }

  /** Another process may have taken it over, or removed it. */
  #refuseLost(run_id: string): void {
    const row = this.#database.get<{ owner: string | null }>('SELECT owner FROM rlm_runs WHERE run_id = ?', run_id);
    if (row?.owner === holderName()) return;
    const what =
      row === undefined ? 'was removed' : `is worked on by ${row.owner ? holderWords(row.owner) : 'nobody'} now`;
    throw new TalariaError(`The run ${run_id} ${what}.`, { code: 'run-lost' });
  }

  /** With its three texts. */
  #saveCall(run_id: string, { prompt, completion, system_prompt, ...record }: CallRecord): void {
    const { call_id } = record;
    if (this.recorded(run_id, call_id) !== undefined)
      throw new TalariaError(`The call ${call_id} is stored already.`, { code: 'call-exists' });
    const keep = (text: string) => this.#keepText(run_id, text);
    this.#database.run(
      'INSERT INTO rlm_calls(run_id, call_id, record, prompt, completion, system_prompt) VALUES(?, ?, ?, ?, ?, ?)',
      ...[run_id, call_id, canonicalJson(record as unknown as JsonObject)],
      ...[keep(prompt), completion === null ? null : keep(completion), keep(system_prompt)],
    );
  }

  #keepText(run_id: string, text: string): string {
    const hash = textHash(text);
    this.#database.run('INSERT OR IGNORE INTO rlm_texts(hash, body) VALUES(?, ?)', hash, Buffer.from(text, 'utf8'));
    this.#database.run('INSERT OR IGNORE INTO rlm_run_texts(run_id, hash) VALUES(?, ?)', run_id, hash);
    return hash;
  }

  /** Newest first. */
  list({ limit = -1, kind = null }: { readonly limit?: number; readonly kind?: RunRow['kind'] | null } = {}) {
    return this.#rows('? IS NULL OR kind = ?', 'LIMIT ?', kind, kind, limit);
  }

  #row(run_id: string): RunRow | undefined {
    return this.#rows('run_id = ?', '', run_id)[0];
  }

  #rows(where: string, more: string, ...values: readonly (string | number | null)[]): readonly RunRow[] {
    const columns = 'run_id, kind, request, root, sources, started_at, ended_at, state, outcome, state_hash, owner';
    const sql = `SELECT ${columns} FROM rlm_runs WHERE ${where} ORDER BY started_at DESC, position DESC ${more}`;
    return this.#database.all<StoredRun>(sql, ...values).map(readRun);
  }

  /** By id, or by the beginning of one when it is the only such. A whole id is never ambiguous, an empty one names no run. */
  find(idOrPrefix: string): Result<RunRow, 'run-not-found' | 'run-ambiguous'> {
    if (idOrPrefix === '') return refuse('run-not-found', 'No run has the id "".');
    const rows = this.#rows('substr(run_id, 1, length(?)) = ?', '', idOrPrefix, idOrPrefix);
    const found = rows.find(({ run_id }) => run_id === idOrPrefix) ?? rows[0];
    if (found === undefined) return refuse('run-not-found', `No run has the id ${idOrPrefix}.`);
    if (rows.length === 1 || found.run_id === idOrPrefix) return ok(found);
    const some = rows.slice(0, 4).map(({ run_id }) => run_id);
    const more = rows.length > some.length ? ', …' : '';
    return refuse('run-ambiguous', `${rows.length} runs begin with ${idOrPrefix}: ${some.join(', ')}${more}.`);
  }

  events(run_id: string): readonly RunEvent[] {
    const sql =
      'SELECT run_id, seq, type, node_id, causal_parent_event_id, data, at FROM rlm_events WHERE run_id = ? ORDER BY seq';
    return this.#database.all<StoredEvent>(sql, run_id).map((row) => ({
      ...row,
      type: row.type as RunEventType,
      event_id: eventId(run_id, row.seq),
      data: readJson<JsonObject>(row.data, `event ${row.seq} of ${run_id}`),
    }));
  }

  calls(run_id: string): readonly CallRecord[] {
    return this.#calls(run_id, 'run_id = ? ORDER BY position', run_id);
  }

  recorded(run_id: string, call_id: string): CallRecord | undefined {
    return this.#calls(run_id, 'run_id = ? AND call_id = ?', run_id, call_id)[0];
  }

  /** A text that is gone reads as empty, and its hash tells. */
  #calls(run_id: string, where: string, ...values: readonly string[]): readonly CallRecord[] {
    const sql = `SELECT record, prompt, completion, system_prompt FROM rlm_calls WHERE ${where}`;
    return this.#database.all<StoredCall>(sql, ...values).map((row) => {
      const text = (hash: string): string => this.textOf(hash) ?? '';
      const completion = row.completion === null ? null : text(row.completion);
      const texts = { prompt: text(row.prompt), completion, system_prompt: text(row.system_prompt) };
      return { ...readJson<JsonObject>(row.record, `a call of ${run_id}`), ...texts } as unknown as CallRecord;
    });
  }

  /** As text also what somebody else has written there as text: its hash tells. */
  textOf(hash: string): string | undefined {
    const row = this.#database.get<{ body: Uint8Array | string }>('SELECT body FROM rlm_texts WHERE hash = ?', hash);
    if (row === undefined || !(row.body instanceof Uint8Array)) return row && String(row.body);
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(row.body);
  }

  /** Removes ended runs that began before; gives their ids. Texts that nobody names any more go with them. */
  prune(before: number, { keep = 0, killed = false, dryRun = false }: PruneOptions = {}): readonly string[] {
    return this.#database.transactionSync(() => {
      const old = this.list()
        .slice(keep)
        .filter((row) => row.started_at < before);
      const gone = old.filter((row) => row.ended_at !== null || (killed && !this.#isAlive(row)));
      const ids = gone.map(({ run_id }) => run_id);
      if (!dryRun) this.#remove(ids);
      return ids;
    });
  }

  #remove(run_ids: readonly string[]): void {
    for (const run_id of run_ids) this.#database.run('DELETE FROM rlm_runs WHERE run_id = ?', run_id);
    this.#database.run('DELETE FROM rlm_texts WHERE hash NOT IN (SELECT hash FROM rlm_run_texts)');
  }

  /**
   * Whoever holds a text, or began before a time (epoch ms), goes wholly: a run without a part of itself would be no record. The bytes
   * go too; `busy`: another process still holds the freed ones.
   */
  async forget({ holds, before }: RunsToForget): Promise<{ readonly gone: readonly string[]; readonly busy: boolean }> {
    this.#database.exec('PRAGMA secure_delete = ON');
    const gone = await this.#database.transaction(() => {
      const rows = this.list().filter(
        ({ run_id, started_at }) =>
          (before !== undefined && started_at < before) ||
          (holds !== undefined && this.#textsOf(run_id).some((text) => holds(text))),
      );
      const ids = rows.map(({ run_id }) => run_id);
      this.#remove(ids);
      return ids;
    });
    return { gone, busy: gone.length > 0 && (await eraseFreed(this.#database, this.#clock)) === 'busy' };
  }

  /** Everything that is stored of a run; JSON as it stands. */
  #textsOf(run_id: string): readonly string[] {
    const columns = this.#database.all<{ text: string | null }>(
      `SELECT root || ' ' || sources || ' ' || request AS text FROM rlm_runs WHERE run_id = ?1
     UNION ALL SELECT outcome FROM rlm_runs WHERE run_id = ?1
     UNION ALL SELECT data FROM rlm_events WHERE run_id = ?1
     UNION ALL SELECT record FROM rlm_calls WHERE run_id = ?1`,
      run_id,
    );
    const hashes = this.#database.all<{ hash: string }>('SELECT hash FROM rlm_run_texts WHERE run_id = ?', run_id);
    return [...columns.flatMap(({ text }) => text ?? []), ...hashes.flatMap(({ hash }) => this.textOf(hash) ?? [])];
  }

  close(): void {
    if (this.#database.isClosed) return;
    try {
      for (const [run_id, trace] of [...this.#live]) {
        this.#release(run_id);
        trace.letGo();
      }
    } finally {
      this.#live.clear();
      this.#database.close();
    }
  }
}

interface StoredRun extends Omit<RunRow, 'request' | 'sources' | 'outcome'> {
  readonly request: string;
  readonly sources: string;
  readonly outcome: string | null;
}

type StoredEvent = Omit<RunEvent, 'data' | 'event_id' | 'type'> & { readonly data: string; readonly type: string };

interface StoredCall {
  readonly record: string;
  readonly prompt: string;
  readonly completion: string | null;
  readonly system_prompt: string;
}

function readRun(row: StoredRun): RunRow {
  const { run_id } = row;
  return {
    ...row,
    request: readJson(row.request, `the request of ${run_id}`),
    sources: readJson(row.sources, `the sources of ${run_id}`),
    outcome: row.outcome === null ? null : readJson(row.outcome, `the outcome of ${run_id}`),
  };
}

function readJson<T>(text: string, what: string): T {
  const parsed = parseJson(text);
  if (parsed.ok && typeof parsed.value === 'object') return parsed.value as unknown as T;
  throw new TalariaError(`The store of runs holds no JSON for ${what}.`, { code: 'trace-damaged' });
}

export interface RunsToForget {
  /** Does a text, as it is or within JSON, hold what is to go? */
  readonly holds?: (text: string) => boolean;
  /** Epoch ms. */
  readonly before?: number;
}

/** `forget` for the runs of a home, with their contexts. Throws TalariaError as `openDatabase`; a damaged file is left alone. */
export async function forgetRuns(
  { home, clock }: { readonly home: string; readonly clock: Clock },
  what: RunsToForget,
): Promise<{ readonly count: number; readonly busy: readonly string[] }> {
  const path = traceStorePath(home);
  if (!existsSync(path)) return { count: 0, busy: [] };
  const store = new TraceStore(openDatabase(path, { rooms: [traceSchema], onCorrupt: 'throw', clock }), clock);
  try {
    const { gone, busy } = await store.forget(what);
    for (const run_id of gone) await rm(contextFolder({ home, run_id }), { recursive: true, force: true });
    return { count: gone.length, busy: busy ? [path] : [] };
  } finally {
    store.close();
  }
}
