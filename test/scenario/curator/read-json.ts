/** Reads what a command printed as JSON, or says what it printed instead. */
import assert from 'node:assert/strict';
import { type JsonObject, parseJsonObject } from '#base/json.ts';

export function readJson(out: string): JsonObject {
  const parsed = parseJsonObject(out);
  assert.ok(parsed.ok, `no JSON: ${out.slice(0, 600)}`);
  return parsed.value;
}
