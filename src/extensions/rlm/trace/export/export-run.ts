// Owns the one file that holds a whole run: row, events, calls with their texts, texts of what was read. Invariant: what is exported reads as
// the record that it came from, on a machine without the store; equal runs, equal bytes.
import { canonicalJson, type JsonObject } from '#base/json.ts';
import { namedTexts } from '../named-texts.ts';
import { type RunRecord, readRunRecord } from '../run-record.ts';
import type { TraceStore } from '../trace-store.ts';
import type { PackedContext } from './packed-context.ts';

export const EXPORT_VERSION = 'talaria.rlm.export.v1';

/** JSON with a last line end. `context`: of an ask. */
export function exportRun(record: RunRecord, context?: PackedContext): string {
  return `${canonicalJson(exportedRun(record, context))}\n`;
}

function exportedRun(record: RunRecord, context?: PackedContext): JsonObject {
  const texts = Object.fromEntries(
    [...namedTexts(record).keys()].flatMap((hash) => {
      const text = record.textOf(hash);
      return text === undefined ? [] : [[hash, text]];
    }),
  );
  const { row, events, calls } = record;
  const value = { schema_version: EXPORT_VERSION, row: { ...row, owner: null }, events, calls, texts };
  return { ...value, ...(context === undefined ? {} : { context }) } as unknown as JsonObject;
}

/** Beside what a bench says of runs, the runs themselves: so its file can be checked and done again anywhere. */
export function recordedRuns(
  store: TraceStore,
  run_ids: readonly string[],
): { readonly recorded_runs: readonly JsonObject[] } {
  const rows = run_ids.map((run_id) => store.find(run_id));
  return { recorded_runs: rows.flatMap((row) => (row.ok ? [exportedRun(readRunRecord(store, row.value))] : [])) };
}
