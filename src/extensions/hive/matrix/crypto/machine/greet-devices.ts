// Owns new sessions with devices whose old ones are gone or do not work: whoever gets a message over a new session uses it from then on.
// Needed when a key is to come to us, and when the store is older than what others have seen of it (put back from a copy), for its sessions
// would use keys twice. Knows no room. Invariant: a device with which we have a session gets nothing.
import { DeviceId, type KeysClaimRequest, UserId } from '@matrix-org/matrix-sdk-crypto-wasm';
import { randomHex } from '#base/ids.ts';
import { isJsonObject, type JsonObject, parseJsonObject } from '#base/json.ts';
import { userIds } from '../foreign/user-ids.ts';
import type { LateDevice } from '../room-crypto.ts';
import type { CryptoFile } from '../store/crypto-file.ts';
import type { KeyBatch } from './key-batch.ts';
import { sendQueries, sendRequest } from './send-requests.ts';

/** To be done while no machine is open on the file. */
export function dropSessions(file: CryptoFile): void {
  file.database.run("DELETE FROM records WHERE store = 'session'");
}

/** Everybody whose devices we follow. */
export async function greetAll(batch: KeyBatch): Promise<void> {
  const users = await batch.olm.trackedUsers();
  await greetDevices(
    batch,
    [...users].map((id) => id.toString()),
  );
}

export async function greetDevices(batch: KeyBatch, users: readonly string[]): Promise<void> {
  if (users.length === 0) return;
  await batch.olm.updateTrackedUsers(userIds(users));
  await sendQueries(batch);
  const claim = await batch.olm.getMissingSessions(userIds(users));
  if (claim == null) return;
  await sendRequest(batch, claim);
  const messages: Record<string, Record<string, JsonObject>> = {};
  for (const device of devicesOf(claim)) {
    const content = await greeting(batch, device);
    if (content !== undefined) messages[device.userId] = { ...messages[device.userId], [device.deviceId]: content };
  }
  await batch.store();
  if (Object.keys(messages).length === 0) return;
  const path = ['v3', 'sendToDevice', 'm.room.encrypted', randomHex(16)];
  await batch.http({ method: 'PUT', path, body: { messages } }, batch.signal);
}

function devicesOf({ body }: KeysClaimRequest): LateDevice[] {
  const parsed = parseJsonObject(body);
  const users = parsed.ok && isJsonObject(parsed.value.one_time_keys) ? Object.entries(parsed.value.one_time_keys) : [];
  return users.flatMap(([userId, devices]) =>
    Object.keys(isJsonObject(devices) ? devices : {}).map((deviceId) => ({ userId, deviceId })),
  );
}

/** Undefined: no session could be made with that device, now as little as later. */
async function greeting({ olm }: KeyBatch, { userId, deviceId }: LateDevice): Promise<JsonObject | undefined> {
  const device = await olm.getDevice(new UserId(userId), new DeviceId(deviceId));
  try {
    const parsed = parseJsonObject((await device?.encryptToDeviceEvent('m.dummy', {})) ?? '');
    return parsed.ok ? parsed.value : undefined;
  } catch (error) {
    if (error instanceof Error && error.name === 'RuntimeError') throw error;
    return undefined;
  }
}
