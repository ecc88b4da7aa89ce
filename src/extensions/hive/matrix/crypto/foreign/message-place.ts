// Owns where in its session an encrypted message stands. Knows no key. Invariant: one message has one form: what says the same in other bytes
// has no place, for the machine would open it all the same (its signature covers the meaning, not the bytes).
import { isJsonObject, type JsonObject } from '#base/json.ts';

export interface MessagePlace {
  readonly sessionId: string;
  readonly index: number;
}

const VERSION = 3;
const INDEX_TAG = 0x08;
const TEXT_TAG = 0x12;
/** Authentication code and signature. */
const TRAILER_BYTES = 8 + 64;

/** @param content of `m.room.encrypted`, Megolm. Undefined: it has not the one form that every encrypting side makes. */
export function messagePlace(content: JsonObject | undefined): MessagePlace | undefined {
  if (!isJsonObject(content)) return undefined;
  const { session_id: sessionId, ciphertext } = content;
  if (typeof sessionId !== 'string' || typeof ciphertext !== 'string') return undefined;
  const bytes = Buffer.from(ciphertext, 'base64');
  if (bytes[0] !== VERSION || bytes[1] !== INDEX_TAG) return undefined;
  const index = readNumber(bytes, 2);
  if (index === undefined || bytes[index.end] !== TEXT_TAG) return undefined;
  const length = readNumber(bytes, index.end + 1);
  if (length === undefined || length.end + length.value + TRAILER_BYTES !== bytes.length) return undefined;
  return { sessionId, index: index.value };
}

/** Seven bits a byte, lowest first, in as few bytes as there can be; at most 32 bits. */
function readNumber(bytes: Buffer, start: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let count = 0; count < 5; count += 1) {
    const byte = bytes[start + count];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * count);
    if (byte >= 0x80) continue;
    const isShortest = count === 0 || byte > 0;
    return isShortest && value < 2 ** 32 ? { value, end: start + count + 1 } : undefined;
  }
  return undefined;
}
