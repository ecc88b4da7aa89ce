// Owns the seam between the notes that are kept on the server and their encryption (`peers.encrypt_account_data`). Implemented beside the
// message encryption; absent when the switch is off. Knows no key and no note.
import type { JsonObject } from '#base/json.ts';

/**
 * Contract. `place` names where a value is kept; it is bound, not stored, and a value that was moved to another place does not open.
 * Synchronous; the same plain value gives another sealed one each time.
 * Never throws for what was stored.
 */
export interface AccountDataCipher {
  /** `{encrypted: 'v1', nonce, ciphertext}` */
  seal(value: JsonObject, place: string): JsonObject;
  /** Undefined: sealed with another key or for another place, or damaged. Only called with what `isSealed` says is sealed. */
  open(value: JsonObject, place: string): JsonObject | undefined;
  /** Absent: plain values are always believed. */
  readonly plain?: PlainNotes;
}

/** Values from before sealing was switched on are believed until all of them were sealed. Never throws, but for what the disk does. */
export interface PlainNotes {
  isOver(): boolean;
  /** All that there was is sealed now. */
  end(): void;
  /** One was left out. */
  refused(): void;
}

export function isSealed(value: JsonObject): boolean {
  return typeof value.encrypted === 'string' && typeof value.ciphertext === 'string';
}
