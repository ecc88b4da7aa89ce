// Owns the form of a manifest's entries in prompts and artifacts: four fields, strings, one order. Knows no verdict: what is judged keeps
// its own order. Invariant: equal entries in any order give equal bytes; nothing is left out. Seed 003, notes 2.1.
import { TalariaError } from '#base/errors.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { comparePoints } from '#base/text/code-points.ts';
import type { ManifestEntry } from './manifest.ts';

/** @throws TalariaError `rlm-manifest-invalid` when an entry is no object */
export function normalizeEntries(entries: readonly unknown[]): readonly ManifestEntry[] {
  return entries.map(normalizeEntry).sort(compareEntries);
}

function normalizeEntry(entry: unknown): ManifestEntry {
  if (!isJsonObject(entry))
    throw new TalariaError('An entry of a manifest is an object.', { code: 'rlm-manifest-invalid' });
  const field = (name: keyof JsonObject): string => asText(entry[name]);
  const call = entry.child_call_id ?? null;
  return {
    fact_id: field('fact_id'),
    chunk_id: field('chunk_id'),
    text: field('text'),
    child_call_id: call === null ? null : asText(call),
  };
}

/** As the original's language writes a text, nothing, yes and no; the rest as JSON. */
function asText(value: JsonValue | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return typeof value === 'number' ? String(value) : canonicalJson(value);
}

function compareEntries(one: ManifestEntry, other: ManifestEntry): number {
  return (
    comparePoints(one.fact_id, other.fact_id) ||
    comparePoints(one.chunk_id, other.chunk_id) ||
    comparePoints(one.child_call_id ?? '', other.child_call_id ?? '') ||
    comparePoints(one.text, other.text)
  );
}
