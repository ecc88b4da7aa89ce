// Owns taking secrets out of JSON data before it is stored. Knows no store. Invariant: the shape stays; only texts change, each read
// together with the key it stands under, so that `{"password": "…"}` is seen as what it is.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';

export type Redact = (text: string) => string;

export function redactJson(value: JsonValue, redact: Redact, key = ''): JsonValue {
  if (typeof value === 'string') return redactUnder(key, value, redact);
  if (Array.isArray(value)) return value.map((item: JsonValue) => redactJson(item, redact, key));
  return isJsonObject(value) ? redactObject(value, redact) : value;
}

export function redactObject(object: JsonObject, redact: Redact): JsonObject {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([key, value]) => [key, redactJson(value ?? null, redact, key)]));
}

function redactUnder(key: string, value: string, redact: Redact): string {
  const alone = redact(value);
  if (alone !== value || key === '') return alone;
  const lead = `${key}: `;
  const together = redact(lead + value);
  return together.startsWith(lead) ? together.slice(lead.length) : alone;
}
