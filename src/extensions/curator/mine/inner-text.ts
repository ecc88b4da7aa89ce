// Owns taking the words out of a text that is JSON (curator notes 7, inner text). Pure. Invariant: never throws, bounded depth; a text
// that holds no words of its own stays what it is.
import { isJsonObject, type JsonValue, parseJson } from '#base/json.ts';

const KEYS = ['summary', 'text', 'output', 'content', 'error', 'exception'];
const DEEPEST = 50;

export function innerText(text: string): string {
  const data = jsonInside(text);
  if (data === undefined) return text;
  const parts = collect(data, 0).filter((part) => part.trim() !== '');
  return parts.length > 0 ? parts.join('\n') : text;
}

/** The data of a text that begins like JSON and is JSON. */
export function jsonInside(text: string): JsonValue | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  const read = parseJson(text.trim());
  return read.ok ? read.value : undefined;
}

function collect(value: JsonValue | undefined, depth: number): readonly string[] {
  if (typeof value === 'string') return [value];
  if (depth > DEEPEST) return [];
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => collect(item, depth + 1));
  if (!isJsonObject(value)) return [];
  const found = KEYS.flatMap((key) => collect(value[key], depth + 1));
  return found.some((part) => part.trim() !== '') ? found : collect(value.results, depth + 1);
}
