// Owns the encryption of account data with a key of this home, `account-data.key` (AES-256-GCM; hivemind notes 5). Knows no server.
// Invariant: every nonce is random and used once; a value that was changed, or put in another place, does not open.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import type { AccountDataCipher } from '../account-data/account-data-cipher.ts';
import { plainNotesMark } from './plain-notes-mark.ts';
import { privateKeyFile, type TellOwner } from './private-key-file.ts';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** @param folder absolute path of `peers/`. Throws TalariaError `key-unusable` | `folder-unusable`. */
export function openAccountDataCipher(folder: string, tell: TellOwner = () => undefined): AccountDataCipher {
  const key = privateKeyFile(join(folder, 'account-data.key'), tell);
  return {
    plain: plainNotesMark(folder, tell),
    seal: (value, place) => seal(key, value, place),
    open: (value, place) => open(key, value, place),
  };
}

function seal(key: Uint8Array, value: JsonObject, place: string): JsonObject {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(place, 'utf8'));
  const bytes = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return { encrypted: 'v1', nonce: nonce.toString('base64'), ciphertext: bytes.toString('base64') };
}

function open(key: Uint8Array, value: JsonObject, place: string): JsonObject | undefined {
  const { encrypted, nonce, ciphertext } = value;
  if (encrypted !== 'v1' || typeof nonce !== 'string' || typeof ciphertext !== 'string') return undefined;
  const sealed = { nonce: Buffer.from(nonce, 'base64'), bytes: Buffer.from(ciphertext, 'base64'), place };
  if (sealed.nonce.length !== NONCE_BYTES || sealed.bytes.length < TAG_BYTES) return undefined;
  const text = decipher(key, sealed);
  const parsed = text === undefined ? undefined : parseJsonObject(text);
  return parsed?.ok === true ? parsed.value : undefined;
}

interface Sealed {
  readonly nonce: Buffer;
  readonly bytes: Buffer;
  readonly place: string;
}

function decipher(key: Uint8Array, { nonce, bytes, place }: Sealed): string | undefined {
  const end = bytes.length - TAG_BYTES;
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(place, 'utf8'))
    .setAuthTag(bytes.subarray(end));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]).toString('utf8');
  } catch {
    return undefined; // the tag does not fit: another key, another place, or changed
  }
}
