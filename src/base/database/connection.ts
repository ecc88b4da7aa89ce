// Owns one SQLite connection: pragmas, cached statements, transactions with retry, safe copy, close with checkpoint; with
// `openDatabase` the only code that touches node:sqlite. Knows no table. Invariant: what `transaction` resolved is durable, and every
// failure of SQLite leaves as TalariaError with a stable code (sqlite-error.ts).
import { chmodSync, closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { Clock } from '../clock.ts';
import { errorCode, TalariaError } from '../errors.ts';
import { jitter } from '../ids.ts';
import { sqliteError } from './sqlite-error.ts';

export type SqlValue = SQLInputValue;

/** Marks a file in which a connection saw damage in the middle of its work: the next opener looks at all of it. */
export function suspectMark(path: string): string {
  return `${path}.suspect`;
}

export interface ConnectionOptions {
  readonly readOnly: boolean;
  readonly clock: Clock;
  readonly busyMs: number;
}

/** How long SQLite itself waits inside one call before our own jittered, non-blocking wait takes over. */
const BLOCKING_WAIT_MS = 20;

export class Database {
  readonly path: string;
  readonly readOnly: boolean;
  readonly #raw: DatabaseSync;
  readonly #options: ConnectionOptions;
  readonly #statements = new Map<string, StatementSync>();
  #closed = false;

  /** Use `openDatabase`. */
  constructor(path: string, options: ConnectionOptions) {
    this.path = path;
    this.readOnly = options.readOnly;
    this.#options = options;
    try {
      this.#raw = new DatabaseSync(path, { readOnly: options.readOnly, timeout: BLOCKING_WAIT_MS });
    } catch (error) {
      throw sqliteError(path, error);
    }
    this.#setUp();
  }

  #setUp(): void {
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
    const partial = `${to}.partial`;
    rmSync(partial, { force: true });
    try {
      this.#guard(() => this.#raw.prepare('VACUUM INTO ?').run(partial));
      chmodSync(partial, 0o600);
      renameSync(partial, to);
    } finally {
      rmSync(partial, { force: true });
    }
  }

  /**
   * First problem that SQLite finds in the file, or undefined. Reads everything: for `doctor`. Full-text indexes are left to the rooms that
   * own them: they are derived and can be built again.
   */
  findDamage(): string | undefined {
    const rows = this.all<{ quick_check: string }>('PRAGMA quick_check(100)');
    return rows.map((row) => row.quick_check).find((line) => line !== 'ok' && !/\bFTS5 table\b/i.test(line));
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
      if (failure.code === 'database-corrupt' && !this.readOnly) this.#markSuspect();
      throw failure;
    }
  }

  #markSuspect(): void {
    const mark = suspectMark(this.path);
    if (!existsSync(mark)) closeSync(openSync(mark, 'a', 0o600));
  }
}
