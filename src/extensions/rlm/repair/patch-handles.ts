// Owns writing handles into a copy of a synthesis. Knows no rule: it fills `evidence_chunk_id` of the objects it is given, and nothing else.
// Invariant: what is given is never changed; every other value of the copy is the same value, in the same order.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { FACT_LISTS } from '../guard/read-claims.ts';

/** Object of the synthesis → its handle. */
export type Handles = ReadonlyMap<JsonObject, string>;

export function patchHandles(synthesis: JsonObject, handles: Handles): JsonObject {
  const patched: Record<string, JsonValue | undefined> = { ...synthesis };
  const { result, evidence_references } = synthesis;
  if (isJsonObject(result)) patched.result = patchResult(result, handles);
  if (evidence_references !== undefined) patched.evidence_references = patchItems(evidence_references, handles);
  return patched;
}

function patchResult(result: JsonObject, handles: Handles): JsonObject {
  const patched: Record<string, JsonValue | undefined> = { ...patchObject(result, handles) };
  for (const key of FACT_LISTS) {
    const value = patched[key];
    if (value !== undefined) patched[key] = patchItems(value, handles);
  }
  return patched;
}

function patchItems(value: JsonValue, handles: Handles): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => patchItem(item, handles));
  return patchItem(value, handles);
}

function patchItem(item: JsonValue, handles: Handles): JsonValue {
  return isJsonObject(item) ? patchObject(item, handles) : item;
}

function patchObject(object: JsonObject, handles: Handles): JsonObject {
  const handle = handles.get(object);
  return handle === undefined ? object : { ...object, evidence_chunk_id: handle };
}
