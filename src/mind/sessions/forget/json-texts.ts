// Owns looking at, and changing, the texts in JSON data without touching its form. Knows no table.
// Invariant: names of fields, and the values under structural fields, are never taken for content.
import { isJsonObject, type JsonValue, parseJson } from '#base/json.ts';

/** Is there a text that passes? Values under `structure` keys are not looked at. */
export function someText(
  value: JsonValue | undefined,
  structure: ReadonlySet<string>,
  test: (text: string) => boolean,
): boolean {
  if (typeof value === 'string') return test(value);
  if (Array.isArray(value)) return value.some((item: JsonValue) => someText(item, structure, test));
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([key, inner]) => !structure.has(key) && someText(inner, structure, test));
}

/** Every text passed through `change`. */
export function mapTexts(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item: JsonValue) => mapTexts(item, change));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapTexts(inner ?? null, change)]));
}

/** `someText` for JSON as it is stored; what is no JSON is one text. */
export function someStoredText(
  stored: string,
  structure: ReadonlySet<string>,
  test: (text: string) => boolean,
): boolean {
  if (!test(stored)) return false;
  const parsed = parseJson(stored);
  return parsed.ok ? someText(parsed.value, structure, test) : true;
}
