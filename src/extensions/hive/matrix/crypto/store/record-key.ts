// Owns keys of IndexedDB as text: one key, one text, and back. Knows no store.
// Invariant: equal keys give equal texts in every process (which v8.serialize does not promise for strings).

import { TalariaError } from '#base/errors.ts';
import { isJsonObject, type JsonValue, parseJson } from '#base/json.ts';

/** What IndexedDB takes as a key, without dates. */
export type RecordKey = string | number | ArrayBuffer | ArrayBufferView | readonly RecordKey[];

export function recordKeyText(key: RecordKey): string {
  return JSON.stringify(plain(key));
}

export function readRecordKey(text: string): RecordKey {
  const parsed = parseJson(text);
  if (!parsed.ok) throw unreadable(text);
  return keyOf(parsed.value, text);
}

function plain(key: RecordKey): JsonValue {
  if (typeof key === 'string') return key;
  if (typeof key === 'number') return Number.isFinite(key) ? key : { infinite: key > 0 };
  if (key instanceof ArrayBuffer) return { bytes: Buffer.from(key).toString('base64') };
  if (ArrayBuffer.isView(key))
    return { bytes: Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('base64') };
  if (Array.isArray(key)) return key.map(plain);
  throw unreadable(String(key));
}

function keyOf(value: JsonValue | undefined, text: string): RecordKey {
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (Array.isArray(value)) return value.map((part: JsonValue) => keyOf(part, text));
  if (!isJsonObject(value)) throw unreadable(text);
  if (typeof value.infinite === 'boolean') return value.infinite ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  if (typeof value.bytes === 'string') return new Uint8Array(Buffer.from(value.bytes, 'base64')).buffer;
  throw unreadable(text);
}

function unreadable(text: string): TalariaError {
  return new TalariaError(`the key store holds a record under a key that is none: ${text.slice(0, 80)}`, {
    code: 'key-store-unusable',
  });
}
