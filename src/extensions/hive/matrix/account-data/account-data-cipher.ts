// Owns the seam between the notes that are kept on the server and their encryption (`peers.encrypt_account_data`). Implemented beside the
// message encryption; absent when the switch is off. Knows no key and no note.
import type { JsonObject } from '#base/json.ts';

/** Contract. Pure and synchronous; the same plain value gives another sealed one each time. Never throws for what was stored. */
export interface AccountDataCipher {
  /** `{encrypted: 'v1', nonce, ciphertext}` */
  seal(value: JsonObject): JsonObject;
  /** Undefined: sealed with another key, or damaged. Only called with what `isSealed` says is sealed. */
  open(value: JsonObject): JsonObject | undefined;
}

export function isSealed(value: JsonObject): boolean {
  return typeof value.encrypted === 'string' && typeof value.ciphertext === 'string';
}
