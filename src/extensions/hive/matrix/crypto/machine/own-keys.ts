// Owns what happens when the server keeps keys of this device that the store here does not hold: the store was lost, or a copy from before
// was put back. Others would go on using the old keys, and what they send could not be read. Knows no request of the machine.
// Invariant: after `burnOldKeys` the server hands out no one-time key but those uploaded from now on.
import { RoomId } from '@matrix-org/matrix-sdk-crypto-wasm';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { KeyBatch } from './key-batch.ts';

const ALGORITHM = 'signed_curve25519';
/** More than any server keeps for a device. */
const MOST_KEYS = 300;

/** The server knows this device under another identity. */
export async function isKnownOtherwise({ olm, http, userId, deviceId, signal }: KeyBatch): Promise<boolean> {
  const body = { device_keys: { [userId]: [deviceId] }, timeout: 10_000 };
  const answer = await http({ method: 'POST', path: ['v3', 'keys', 'query'], body, repeatable: true }, signal);
  const device = at(at(answer.device_keys, userId), deviceId);
  const known = at(at(device, 'keys'), `ed25519:${deviceId}`);
  return typeof known === 'string' && known !== olm.identityKeys.ed25519.toBase64();
}

/** Claims our own one-time keys until none is left: a claimed key is handed out to nobody else. */
export async function burnOldKeys({ http, userId, deviceId, signal }: KeyBatch): Promise<void> {
  const body = { one_time_keys: { [userId]: { [deviceId]: ALGORITHM } } };
  for (let count = 0; count < MOST_KEYS; count += 1) {
    const answer = await http({ method: 'POST', path: ['v3', 'keys', 'claim'], body, repeatable: true }, signal);
    const claimed = at(at(answer.one_time_keys, userId), deviceId);
    const keys = isJsonObject(claimed) ? Object.values(claimed) : [];
    if (keys.length === 0 || keys.every((key) => at(key, 'fallback') === true)) return;
  }
}

/** A copy from before would use the same message keys for other messages: every room gets new ones. */
export async function changeRoomKeys({ olm, reached }: KeyBatch): Promise<void> {
  for (const room of reached.rooms()) await olm.invalidateGroupSession(new RoomId(room));
}

function at(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined;
}
