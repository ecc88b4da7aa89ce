// Owns the TraceStore seam: runs, their events, calls and texts, in `rlm/runs.sqlite` (store/sqlite-trace-store.ts) or in memory.
// Contract suite: test/extensions/rlm/trace/trace-store.contract.ts.
import type { JsonObject } from '#base/json.ts';
import type { Result } from '#base/result.ts';
import type { CallRecord } from '../call/call-record.ts';
import type { EndState } from '../tree/run-state.ts';
import type { NewRunEvent, RunEvent } from './run-event.ts';
import type { NewRun, RunRow } from './run-row.ts';

/**
 * One run while it is worked on. Contract: `emit` of an event number that is stored already (a resumed run) compares instead of writing and
 * throws `trace-diverged` when type, node or data differ; what `saveCall` has returned from outlives the process.
 */
export interface RunTrace {
  readonly run_id: string;
  /** Gives the event id. */
  emit(event: NewRunEvent): string;
  saveCall(record: CallRecord): void;
  /** What an earlier process of this run, or the run that is replayed, was answered; undefined: ask. */
  recorded(call_id: string): CallRecord | undefined;
  /** Texts that events name by hash: chunks that were read. Gives `sha256:…`. */
  keepText(text: string): string;
  textOf(hash: string): string | undefined;
  /** The last write: `rlm.run.finished` must have been emitted. */
  finish(end: { readonly state: EndState; readonly outcome: JsonObject }): void;
}

export interface RunListing {
  readonly limit?: number;
  readonly kind?: RunRow['kind'];
}

export interface PruneOptions {
  /** The newest so many stay whatever their age. */
  readonly keep?: number;
  /** Also runs that were killed and that nobody has gone on with. */
  readonly killed?: boolean;
  /** Only tells. */
  readonly dryRun?: boolean;
}

export interface ReopenOptions {
  /** The owner is known to be gone although nobody here can tell: another machine, or its number is used again. */
  readonly takeOver?: boolean;
}

export interface TraceStore {
  /** The row, and with it the texts that its request names: without them nobody could go on with it. */
  begin(run: NewRun, texts?: readonly string[]): RunTrace;
  /** Goes on with a run whose process is gone. */
  reopen(run_id: string, options?: ReopenOptions): Result<RunTrace, 'run-not-found' | 'run-ended' | 'run-alive'>;
  /** Newest first. */
  list(listing?: RunListing): readonly RunRow[];
  /** By id, or by the beginning of one when it is the only such. */
  find(idOrPrefix: string): Result<RunRow, 'run-not-found' | 'run-ambiguous'>;
  events(run_id: string): readonly RunEvent[];
  calls(run_id: string): readonly CallRecord[];
  textOf(hash: string): string | undefined;
  /** Removes ended runs that began before; gives their ids. Texts that nobody names any more go with them. */
  prune(before: number, options?: PruneOptions): readonly string[];
  close(): void;
}
