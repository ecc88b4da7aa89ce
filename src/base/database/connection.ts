// Owns one SQLite connection: pragmas, cached statements, transactions with retry, safe copy, close with checkpoint; with
// `openDatabase` the only code that touches node:sqlite. Knows no table. Invariant: what `transaction` resolved is durable, and every
// failure of SQLite leaves as TalariaError with a stable code (sqlite-error.ts).
import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { backup, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { Clock } from '../clock.ts';
import { errorCode, TalariaError } from '../errors.ts';
import { jitter } from '../ids.ts';
import { markSuspect } from './damage.ts';
import { sqliteError } from './sqlite-error.ts';

export type SqlValue = SQLInputValue;

export interface ConnectionOptions {
  readonly readOnly: boolean;
  readonly clock: Clock;
  readonly busyMs: number;
  /** What is opened in place of the path: a copy of it, or its address with what SQLite must know. */
  readonly as?: string | URL;
  /** For what may be damaged: entries of the schema that make no sense are passed over instead of refusing the file. */
  readonly lenient?: boolean;
}

/** Pages that a copy takes at once: the pieces between which this process goes on. */
const PAGES_AT_ONCE = 1024;

/** How long SQLite itself waits inside one call before our own jittered, non-blocking wait takes over. */
const BLOCKING_WAIT_MS = 20;

export class Database {
  readonly path: string;
  readonly readOnly: boolean;
  readonly #raw: DatabaseSync;
  readonly #options: ConnectionOptions;
  readonly #statements = new Map<string, StatementSync>();
  #closed = false;
  #atClose: (() => void) | undefined;

  /** Use `openDatabase`. */
  constructor(path: string, options: ConnectionOptions) {
    this.path = path;
    this.readOnly = options.readOnly;
    this.#options = options;
    try {
      this.#raw = new DatabaseSync(options.as ?? path, {
        readOnly: options.readOnly,
        timeout: BLOCKING_WAIT_MS,
        ...(options.lenient ? { defensive: false } : {}),
      });
    } catch (error) {
      throw sqliteError(path, error);
    }
    this.#setUp();
  }

  #setUp(): void {
    if (this.#options.lenient) {
      this.#raw.exec('PRAGMA writable_schema = ON');
      return;
    }
    try {
      this.#blockingly(() =>
        this.#guard(() => {
          if (!this.readOnly) this.#raw.exec('PRAGMA journal_mode = WAL');
          this.#raw.exec(
            'PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY',
          );
          this.#raw.prepare('SELECT count(*) FROM sqlite_schema').get();
        }),
      );
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  /** Rows have null prototypes; `Row` is the caller's promise about its own SQL. */
  all<Row>(sql: string, ...values: readonly SqlValue[]): Row[] {
    return this.#guard(() => this.#statement(sql).all(...values) as Row[]);
  }

  /** Rows one by one, for results that should not be in memory at once. Leave no loop over it unfinished inside a transaction. */
  *iterate<Row>(sql: string, ...values: readonly SqlValue[]): Generator<Row, void, undefined> {
    const rows = this.#guard(() => this.#raw.prepare(sql).iterate(...values));
    for (;;) {
      const next = this.#guard(() => rows.next());
      if (next.done) return;
      yield next.value as Row;
    }
  }

  get<Row>(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    return this.#guard(() => this.#statement(sql).get(...values) as Row | undefined);
  }

  /** Gives the id of the inserted row and the number of changed rows. */
  run(sql: string, ...values: readonly SqlValue[]): { readonly id: number; readonly changes: number } {
    return this.#guard(() => {
      const done = this.#statement(sql).run(...values);
      return { id: Number(done.lastInsertRowid), changes: Number(done.changes) };
    });
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** `run` for a write that may be left out: gives the changed rows, or undefined while another process writes. */
  tryRun(sql: string, ...values: readonly SqlValue[]): number | undefined {
    try {
      return this.run(sql, ...values).changes;
    } catch (error) {
      if (errorCode(error) === 'database-locked') return undefined;
      throw error;
    }
  }

  /** Runs statements without parameters (schema, pragmas). */
  exec(sql: string): void {
    this.#guard(() => this.#raw.exec(sql));
  }

  /**
   * BEGIN IMMEDIATE, `work`, COMMIT; rolled back when `work` throws. While another process writes it is tried again with jitter, without
   * blocking this process, until the deadline (`database-locked`). `work` is synchronous and may run more than once; only its last run counts.
   */
  transaction<T>(work: () => T, signal?: AbortSignal): Promise<T> {
    return this.#retried(() => this.#once(work), signal);
  }

  /**
   * As `transaction`, without waiting for the disk: it survives the death of this process at once, and a power cut from the next
   * durable commit on, which carries it along. For rows that mean nothing before a message follows: sessions, prompts, leases, spans.
   */
  lightTransaction<T>(work: () => T, signal?: AbortSignal): Promise<T> {
    return this.#retried(() => this.#unsynced(() => this.#once(work)), signal);
  }

  #unsynced<T>(work: () => T): T {
    this.#guard(() => this.#raw.exec('PRAGMA synchronous = NORMAL'));
    try {
      return work();
    } finally {
      this.#guard(() => this.#raw.exec('PRAGMA synchronous = FULL'));
    }
  }

  async #retried<T>(attemptOnce: () => T, signal?: AbortSignal): Promise<T> {
    const { clock, busyMs } = this.#options;
    const until = clock.monotonic() + busyMs;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return attemptOnce();
      } catch (error) {
        if (errorCode(error) !== 'database-locked' || clock.monotonic() >= until) throw error;
        const widest = Math.min(250, 20 * 2 ** attempt);
        await clock.sleep(5 + jitter() * widest, signal);
      }
    }
  }

  /** As `transaction`, but waits inside SQLite: for opening and migrating, where nothing else can go on anyway. */
  transactionSync<T>(work: () => T): T {
    return this.#blockingly(() => this.#once(work));
  }

  /** A whole, consistent copy at `to`, which must not exist. Readers and writers go on meanwhile. */
  copyTo(to: string): void {
    if (existsSync(to)) throw new TalariaError(`${to} exists already`, { code: 'file-exists' });
    const partial = privateFile(`${to}.partial`);
    try {
      this.#guard(() => this.#raw.prepare('VACUUM INTO ?').run(partial));
      renameSync(partial, to);
    } finally {
      rmSync(partial, { force: true });
    }
  }

  /** As `copyTo`, in pieces, for large files beside which this process goes on. What others write meanwhile is not in it. */
  async copySlowly(to: string, signal: AbortSignal): Promise<void> {
    const partial = privateFile(`${to}.partial`);
    const source = new DatabaseSync(this.path, { readOnly: true, timeout: BLOCKING_WAIT_MS });
    try {
      source.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
      await backup(source, partial, { rate: PAGES_AT_ONCE, progress: () => signal.throwIfAborted() });
      const copy = new DatabaseSync(partial);
      copy.exec('PRAGMA journal_mode = DELETE'); // whoever reads it leaves no log beside it
      copy.close();
      renameSync(partial, to);
    } catch (error) {
      throw signal.aborted ? signal.reason : sqliteError(this.path, error);
    } finally {
      source.close();
      rmSync(partial, { force: true });
    }
  }

  /** As `findDamage`, a table at a time, for large files beside which this process goes on. */
  async findDamageSlowly(signal: AbortSignal): Promise<string | undefined> {
    const tables = this.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0");
    for (const { name } of tables) {
      await new Promise((resume) => setImmediate(resume));
      signal.throwIfAborted();
      const found = damageIn(this.all(`PRAGMA quick_check('${name.replaceAll("'", "''")}')`));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Called once when it closes. */
  atClose(run: () => void): void {
    this.#atClose = run;
  }

  /**
   * First problem that SQLite finds in the file, or undefined. Reads everything: for `doctor`. Full-text indexes are left to the rooms that
   * own them: they are derived and can be built again.
   */
  findDamage(): string | undefined {
    return damageIn(this.all('PRAGMA quick_check(100)'));
  }

  /** Folds the log into the file when no reader prevents it, then closes. Closing twice is fine. */
  close(): void {
    if (this.#closed) return;
    try {
      if (!this.readOnly) this.#raw.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (error) {
      const failure = sqliteError(this.path, error);
      if (failure.code !== 'database-locked' && failure.code !== 'disk-full') throw failure;
    } finally {
      this.abandon();
    }
  }

  /** Closes without a checkpoint: for connections that never came to work. */
  abandon(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#statements.clear();
    this.#raw?.close();
    this.#atClose?.();
  }

  #once<T>(work: () => T): T {
    this.#guard(() => this.#statement('BEGIN IMMEDIATE').run());
    try {
      const value = work();
      this.#guard(() => this.#statement('COMMIT').run());
      return value;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  #rollBack(): void {
    if (this.#raw.isOpen && this.#raw.isTransaction) this.#guard(() => this.#raw.exec('ROLLBACK'));
  }

  #blockingly<T>(work: () => T): T {
    this.#guard(() => this.#raw.exec(`PRAGMA busy_timeout = ${this.#options.busyMs}`));
    try {
      return work();
    } finally {
      if (!this.#closed) this.#guard(() => this.#raw.exec(`PRAGMA busy_timeout = ${BLOCKING_WAIT_MS}`));
    }
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#raw.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      const failure = sqliteError(this.path, error);
      if (failure.code === 'database-corrupt' && !this.readOnly) markSuspect(this.path);
      throw failure;
    }
  }
}

/** Empty, and nobody else's from its first byte on. */
function privateFile(path: string): string {
  try {
    rmSync(path, { force: true });
    closeSync(openSync(path, 'wx', 0o600));
    return path;
  } catch (error) {
    throw sqliteError(path, error);
  }
}

function damageIn(rows: readonly { readonly quick_check: string }[]): string | undefined {
  return rows.map((row) => row.quick_check).find((line) => line !== 'ok' && !/\bFTS5 table\b/i.test(line));
}
