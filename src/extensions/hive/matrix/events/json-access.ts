// Owns careful steps into JSON that somebody else wrote: a step that does not lead anywhere gives nothing. Pure; never throws.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';

type Somewhere = JsonValue | undefined;

/** The object below `keys`; an empty one when there is none. */
export function objectAt(value: Somewhere, ...keys: readonly string[]): JsonObject {
  let here: Somewhere = value;
  for (const key of keys) here = isJsonObject(here) && Object.hasOwn(here, key) ? here[key] : undefined;
  return isJsonObject(here) ? here : {};
}

export function listAt(value: JsonObject, key: string): readonly JsonValue[] {
  const list = value[key];
  return Array.isArray(list) ? list : [];
}

export function textAt(value: JsonObject, key: string): string | undefined {
  const text = value[key];
  return typeof text === 'string' ? text : undefined;
}

/** Texts of a list; everything else in it is left out. */
export function textsAt(value: JsonObject, key: string): readonly string[] {
  return listAt(value, key).filter((item) => typeof item === 'string');
}

export function objectsAt(value: JsonObject, key: string): readonly JsonObject[] {
  return listAt(value, key).filter(isJsonObject);
}
