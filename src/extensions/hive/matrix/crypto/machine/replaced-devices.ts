// Owns devices that come back with other keys under their old name: whoever lost its store and went on with the same sign-in. The machine
// refuses such a change silently and would encrypt for keys that nobody has. Devices are trusted on first use, so a server could as well
// present a new device: refusing protects nobody. Invariant: such a device counts as new, and nothing sent before counts as read by it.
import { DeviceId, RequestType } from '@matrix-org/matrix-sdk-crypto-wasm';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { userIds } from '../foreign/user-ids.ts';
import type { LateDevice } from '../room-crypto.ts';
import type { KeyBatch } from './key-batch.ts';
import { changeRoomKeys } from './own-keys.ts';

/** Makes the machine forget devices that `answer` (to keys/query) gives other keys; they are taken as new when it reads the answer itself. */
export async function admitReplacedDevices(batch: KeyBatch, answer: JsonObject): Promise<void> {
  const replaced: LateDevice[] = [];
  for (const claimed of claimedKeys(answer)) {
    if (await isReplaced(batch, claimed)) replaced.push(claimed);
  }
  if (replaced.length === 0) return;
  const users = [...new Set(replaced.map((one) => one.userId))];
  const request = batch.olm.queryKeysForUsers(userIds(users));
  const without = JSON.stringify(answerWithout(answer, users, replaced));
  await batch.olm.markRequestAsSent(request.id, RequestType.KeysQuery, without);
  await changeRoomKeys(batch); // the machine would not share a key again with a device of that name
  for (const device of replaced) {
    batch.later(() => batch.reached.forget(device));
    batch.warn(
      `${device.userId} has new keys on the same sign-in (${device.deviceId}): it lost its old ones, or somebody replaced them.`,
    );
  }
}

interface ClaimedKey extends LateDevice {
  readonly key: string;
}

async function isReplaced({ olm, userId, deviceId }: KeyBatch, claimed: ClaimedKey): Promise<boolean> {
  if (claimed.userId === userId && claimed.deviceId === deviceId) return false;
  const [owner] = userIds([claimed.userId]);
  const known = owner && (await olm.getDevice(owner, new DeviceId(claimed.deviceId)));
  const key = known?.ed25519Key?.toBase64();
  return key !== undefined && key !== claimed.key;
}

function claimedKeys({ device_keys }: JsonObject): ClaimedKey[] {
  return entries(device_keys).flatMap(([userId, devices]) =>
    entries(devices).flatMap(([deviceId, device]) => {
      const keys = isJsonObject(device) ? device.keys : undefined;
      const key = isJsonObject(keys) ? keys[`ed25519:${deviceId}`] : undefined;
      return typeof key === 'string' ? [{ userId, deviceId, key }] : [];
    }),
  );
}

function answerWithout(answer: JsonObject, users: readonly string[], replaced: readonly LateDevice[]): JsonObject {
  const gone = (userId: string, deviceId: string) =>
    replaced.some((one) => one.userId === userId && one.deviceId === deviceId);
  const device_keys = entries(answer.device_keys)
    .filter(([userId]) => users.includes(userId))
    .map(([userId, devices]) => {
      const kept = entries(devices).filter(([deviceId]) => !gone(userId, deviceId));
      return [userId, Object.fromEntries(kept)];
    });
  return { ...answer, device_keys: Object.fromEntries(device_keys) };
}

function entries(value: JsonValue | undefined): [string, JsonValue | undefined][] {
  return isJsonObject(value) ? Object.entries(value) : [];
}
