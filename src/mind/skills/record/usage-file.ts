// Owns `.usage.json` in the skills folder: what other tools of this kind read of the records (core notes 2.7). Derived; state.db is the
// truth. Invariant: entries and fields that are not ours stay as they are, and a file that is no JSON object is left alone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { isoTime } from '#base/clock.ts';
import { errorCode } from '#base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { type Result, refuse } from '#base/result.ts';
import type { RecordRow } from './record-rows.ts';

export const USAGE_FILE = '.usage.json';

/** Writes the records into the side-car; the caller holds its lock. */
export function mirrorRecords(root: string, rows: readonly RecordRow[]): Result<true, 'unreadable'> {
  const path = join(root, USAGE_FILE);
  const old = readUsage(path);
  if (!old.ok) return old;
  const entries: Record<string, JsonValue | undefined> = { ...old.value };
  for (const row of rows) {
    const known = entries[row.name];
    entries[row.name] = { ...(isJsonObject(known) ? known : {}), ...usageOf(row) };
  }
  const text = `${JSON.stringify(entries, null, 2)}\n`;
  if (JSON.stringify(entries) !== JSON.stringify(old.value)) atomicWrite(path, text);
  return { ok: true, value: true };
}

function readUsage(path: string): Result<JsonObject, 'unreadable'> {
  try {
    const read = parseJsonObject(readFileSync(path, 'utf8'));
    if (read.ok) return read;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { ok: true, value: {} };
    throw error;
  }
  return refuse('unreadable', `${path} is no JSON object; it was left alone.`);
}

const STATES: Readonly<Record<string, string>> = { flagged: 'stale', retired: 'archived' };

function usageOf(row: RecordRow): JsonObject {
  return {
    created_by: row.created_by,
    use_count: row.use_count,
    view_count: row.view_count,
    last_used_at: timeOf(row.last_used_at),
    last_viewed_at: timeOf(row.last_viewed_at),
    patch_count: row.patch_count,
    last_patched_at: timeOf(row.last_patched_at),
    created_at: timeOf(row.created_at),
    state: STATES[row.status] ?? 'active',
    pinned: row.pinned === 1,
    archived_at: timeOf(row.archived_at),
  };
}

function timeOf(epochMs: number | null): string | null {
  return epochMs === null ? null : isoTime(epochMs);
}
