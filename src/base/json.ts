// Owns the only way from text to JSON data. Invariant: what comes out is `JsonValue`, never `any`; nothing here throws.
import { ok, type Result, refuse } from './result.ts';

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

export function parseJson(text: string): Result<JsonValue, 'invalid-json'> {
  try {
    return ok(JSON.parse(text) as JsonValue);
  } catch (error) {
    return refuse('invalid-json', error instanceof Error ? error.message : 'not JSON');
  }
}

/** Parses text that must be a JSON object (not an array, not null). */
export function parseJsonObject(text: string): Result<JsonObject, 'invalid-json' | 'not-an-object'> {
  const parsed = parseJson(text);
  if (!parsed.ok) return parsed;
  return isJsonObject(parsed.value) ? ok(parsed.value) : refuse('not-an-object', 'expected a JSON object');
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object, or an empty one; so with the others: what is something else counts as nothing. */
export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** JSON with object keys sorted at every depth: equal data gives equal bytes. */
export function canonicalJson(value: JsonValue | undefined): string {
  return JSON.stringify(sortKeys(value));
}

function sortKeys(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item) => sortKeys(item) ?? null);
  if (!isJsonObject(value)) return value;
  // From entries, so that a key `__proto__` is a key as any other.
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sortKeys(value[key])]));
}
