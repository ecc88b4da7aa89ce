// Owns what is known of one run, wherever it comes from: the store, or an exported file. It is what a replay, a check and a page read.
import type { CallRecord } from '../call/call-record.ts';
import type { RunEvent } from './run-event.ts';
import type { RunRow } from './run-row.ts';
import type { TraceStore } from './trace-store.ts';

export interface RunRecord {
  readonly row: RunRow;
  readonly events: readonly RunEvent[];
  readonly calls: readonly CallRecord[];
  /** Texts that events name by hash. */
  readonly textOf: (hash: string) => string | undefined;
}

export function readRunRecord(store: Pick<TraceStore, 'events' | 'calls' | 'textOf'>, row: RunRow): RunRecord {
  return {
    row,
    events: store.events(row.run_id),
    calls: store.calls(row.run_id),
    textOf: (hash) => store.textOf(hash),
  };
}
