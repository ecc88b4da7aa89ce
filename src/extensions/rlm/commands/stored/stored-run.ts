// Owns how a typed id leads to a stored run, and what is said when it leads nowhere. Reads the store, makes no file.
import type { Failure } from '#core/agent/command-failure.ts';
import { refused } from '#core/agent/command-failure.ts';
import type { RlmGround } from '../../rlm-ground.ts';
import { type OpenedTraceStore, openTraceStore } from '../../trace/open-trace-store.ts';
import { type RunRecord, readRunRecord } from '../../trace/run-record.ts';
import type { RunRow } from '../../trace/run-row.ts';
import type { TraceStore } from '../../trace/trace-store.ts';

/** The caller closes it. Throws TalariaError as `openTraceStore`. */
export function openStoreToRead({ clock, places }: RlmGround): OpenedTraceStore {
  return openTraceStore(places.home, { clock, readOnly: true });
}

export function findRow(store: TraceStore, typed: string): RunRow | Failure {
  const found = store.find(typed);
  if (found.ok) return found.value;
  const fix =
    found.reason === 'run-ambiguous' ? 'Type more of the id.' : '`talaria rlm runs` lists the ids of all runs.';
  return refused(found.reason, found.detail, fix);
}

export function findRecord(store: TraceStore, typed: string): RunRecord | Failure {
  const row = findRow(store, typed);
  return 'exitCode' in row ? row : readRunRecord(store, row);
}
