// Owns reaching into a prompt that may hold anything: a path of keys gives what is there, of the kind asked for, or nothing.
// Invariant: total; it never throws and never follows a prototype.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';

export function fieldAt(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  let at = value;
  for (const key of path) {
    if (!isJsonObject(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
}

/** Empty: there is no text. */
export function textAt(value: JsonValue | undefined, ...path: readonly string[]): string {
  const found = fieldAt(value, ...path);
  return typeof found === 'string' ? found : '';
}

export function objectsAt(value: JsonValue | undefined, ...path: readonly string[]): readonly JsonObject[] {
  const found = fieldAt(value, ...path);
  return Array.isArray(found) ? found.filter(isJsonObject) : [];
}
