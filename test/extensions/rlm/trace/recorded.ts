/** The trace of a stored run that is done again by hand. */
import type { RunTrace } from '#extensions/rlm/trace/live-trace.ts';
import { Recording } from '#extensions/rlm/trace/replay.ts';
import { readRunRecord } from '#extensions/rlm/trace/run-record.ts';
import type { TraceStore } from '#extensions/rlm/trace/trace-store.ts';

export function createRecordedTrace(store: TraceStore, run_id: string): RunTrace {
  const row = store.find(run_id);
  if (!row.ok) throw new Error(row.detail);
  return new Recording(readRunRecord(store, row.value)).trace;
}
