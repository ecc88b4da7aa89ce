// Owns the one file that holds a whole run: row, events, calls with their texts, texts of what was read. Invariant: what is exported reads as
// the record that it came from, on a machine without the store; equal runs, equal bytes.
import { canonicalJson, type JsonObject } from '#base/json.ts';
import { namedTexts } from '../named-texts.ts';
import type { RunRecord } from '../run-record.ts';
import type { PackedContext } from './packed-context.ts';

export const EXPORT_VERSION = 'talaria.rlm.export.v1';

/** JSON with a last line end. `context`: of an ask. */
export function exportRun(record: RunRecord, context?: PackedContext): string {
  const texts = Object.fromEntries(
    [...namedTexts(record).keys()].flatMap((hash) => {
      const text = record.textOf(hash);
      return text === undefined ? [] : [[hash, text]];
    }),
  );
  const { row, events, calls } = record;
  const value = { schema_version: EXPORT_VERSION, row: { ...row, owner: null }, events, calls, texts, context };
  return `${canonicalJson(value as unknown as JsonObject)}\n`;
}
