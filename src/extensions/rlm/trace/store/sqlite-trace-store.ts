// Owns runs in one SQLite file that many processes share. Invariants: one process works on a run; what a write returned from survives the
// process and a power cut; a run's rows are a beginning of it at any moment.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { TalariaError } from '#base/errors.ts';
import { canonicalJson } from '#base/json.ts';
import { holderName, holderWords } from '#base/process/holder.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { CallRecord } from '../../call/call-record.ts';
import type { RunEvent } from '../run-event.ts';
import type { NewRun, RunRow } from '../run-row.ts';
import { textHash } from '../text-hash.ts';
import type { PruneOptions, ReopenOptions, RunListing, RunTrace, TraceStore } from '../trace-store.ts';
import { findRow } from './find-row.ts';
import { LiveTrace } from './live-trace.ts';
import { prunedRows } from './pruned-rows.ts';
import { holdRun, isOwnerAlive, releaseRun } from './run-owner.ts';
import {
  insertCall,
  insertEvent,
  insertRun,
  insertText,
  selectCall,
  selectCalls,
  selectEvents,
  selectRun,
  selectRuns,
  selectRunsLike,
  selectText,
} from './run-rows.ts';
import type { RunEnd, TraceBatch, TraceSink } from './trace-sink.ts';

export class SqliteTraceStore implements TraceStore, TraceSink {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #live = new Map<string, LiveTrace>();

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  begin(run: NewRun, texts: readonly string[] = []): RunTrace {
    const at = this.#clock.now();
    this.#database.transactionSync(() => {
      if (selectRun(this.#database, run.run_id) !== undefined)
        throw new TalariaError(`There is a run ${run.run_id} already.`, { code: 'run-exists' });
      insertRun(this.#database, run, { at, owner: holderName() });
      for (const text of texts) insertText(this.#database, { run_id: run.run_id, hash: textHash(text), text });
    });
    return this.#open(run.run_id, []);
  }

  reopen(
    run_id: string,
    { takeOver = false }: ReopenOptions = {},
  ): Result<RunTrace, 'run-not-found' | 'run-ended' | 'run-alive'> {
    const refused = this.#database.transactionSync(() => {
      const row = selectRun(this.#database, run_id);
      if (row === undefined) return refuse('run-not-found', `There is no run ${run_id}.`);
      if (row.ended_at !== null) return refuse('run-ended', `The run ${run_id} has ended.`);
      if (!takeOver && this.#isAlive(row))
        return refuse('run-alive', `${run_id} is worked on by ${holderWords(row.owner ?? '')}.`);
      this.#database.run('UPDATE rlm_runs SET owner = ? WHERE run_id = ?', holderName(), run_id);
      return null;
    });
    return refused ?? ok(this.#open(run_id, selectEvents(this.#database, run_id)));
  }

  #open(run_id: string, stored: readonly RunEvent[]): RunTrace {
    const held = { store: this.#database.path, run_id };
    holdRun(held);
    const onEnd = () => {
      releaseRun(held);
      this.#live.delete(run_id);
    };
    const trace = new LiveTrace({ run_id, stored, sink: this, clock: this.#clock, onEnd });
    this.#live.set(run_id, trace);
    return trace;
  }

  #isAlive(row: RunRow): boolean {
    return isOwnerAlive(row.owner, { store: this.#database.path, run_id: row.run_id });
  }

  write(run_id: string, { events, texts, call, end }: TraceBatch): void {
    this.#database.transactionSync(() => {
      this.#refuseLost(run_id);
      for (const event of events) insertEvent(this.#database, event);
      for (const [hash, text] of texts) insertText(this.#database, { run_id, hash, text });
      if (call !== undefined) this.#saveCall(run_id, call);
      if (end !== undefined) this.#end(run_id, end);
    });
  }

  #saveCall(run_id: string, call: CallRecord): void {
    if (selectCall(this.#database, run_id, call.call_id) !== undefined)
      throw new TalariaError(`The call ${call.call_id} is stored already.`, { code: 'call-exists' });
    insertCall(this.#database, run_id, call);
  }

  #end(run_id: string, { state, outcome, state_hash, ended_at }: RunEnd): void {
    this.#database.run(
      'UPDATE rlm_runs SET state = ?, outcome = ?, state_hash = ?, ended_at = ?, owner = NULL WHERE run_id = ?',
      ...[state, outcome === null ? null : canonicalJson(outcome), state_hash, ended_at, run_id],
    );
  }

  /** Another process may have taken it over, or removed it. */
  #refuseLost(run_id: string): void {
    const row = this.#database.get<{ owner: string | null }>('SELECT owner FROM rlm_runs WHERE run_id = ?', run_id);
    if (row?.owner === holderName()) return;
    const what =
      row === undefined ? 'was removed' : `is worked on by ${row.owner ? holderWords(row.owner) : 'nobody'} now`;
    throw new TalariaError(`The run ${run_id} ${what}.`, { code: 'run-lost' });
  }

  recorded(run_id: string, call_id: string): CallRecord | undefined {
    return selectCall(this.#database, run_id, call_id);
  }

  list({ limit = -1, kind }: RunListing = {}): readonly RunRow[] {
    return selectRuns(this.#database, { limit, kind: kind ?? null });
  }

  find(idOrPrefix: string): Result<RunRow, 'run-not-found' | 'run-ambiguous'> {
    return findRow(idOrPrefix, idOrPrefix === '' ? [] : selectRunsLike(this.#database, idOrPrefix));
  }

  events(run_id: string): readonly RunEvent[] {
    return selectEvents(this.#database, run_id);
  }

  calls(run_id: string): readonly CallRecord[] {
    return selectCalls(this.#database, run_id);
  }

  textOf(hash: string): string | undefined {
    return selectText(this.#database, hash);
  }

  prune(before: number, options: PruneOptions = {}): readonly string[] {
    const isAlive = (row: RunRow) => this.#isAlive(row);
    return this.#database.transactionSync(() => {
      const rows = prunedRows(this.list(), { before, ...options, isAlive });
      if (options.dryRun !== true && rows.length > 0) this.#remove(rows);
      return rows.map(({ run_id }) => run_id);
    });
  }

  #remove(rows: readonly RunRow[]): void {
    for (const { run_id } of rows) this.#database.run('DELETE FROM rlm_runs WHERE run_id = ?', run_id);
    this.#database.run(
      'DELETE FROM rlm_texts WHERE NOT EXISTS (SELECT 1 FROM rlm_run_texts WHERE rlm_run_texts.hash = rlm_texts.hash)',
    );
  }

  close(): void {
    if (this.#database.isClosed) return;
    try {
      for (const [run_id, trace] of this.#live) {
        releaseRun({ store: this.#database.path, run_id });
        trace.letGo();
      }
    } finally {
      this.#live.clear();
      this.#database.close();
    }
  }
}
