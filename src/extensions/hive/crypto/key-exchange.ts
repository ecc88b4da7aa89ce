// Owns how the machine's requests reach the server and the answers come back, and keys of ours or of others that are not what they were: a
// device that comes back with other keys under its name counts as new (the machine would refuse it silently; devices are trusted on first
// use, so refusing protects nobody), and what the server keeps of a store that we lost must go. Knows no room. Invariants: a request that
// carries keys leaves only after all that it rests on is stored; one without an answer stays with the machine and is sent again; after
// `burnOldKeys` the server hands out no one-time key but those uploaded from now on.
import {
  DeviceId,
  KeysClaimRequest,
  KeysQueryRequest,
  KeysUploadRequest,
  type OlmMachine,
  RequestType,
  RoomId,
  ToDeviceRequest,
} from '@matrix-org/matrix-sdk-crypto-wasm';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { PeerError } from '../peer.ts';
import { type KeyBatch, userIds, withoutDeep } from './key-batch.ts';
import type { LateDevice } from './room-crypto.ts';

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

/** Makes the machine forget devices that `answer` (to keys/query) gives other keys; they are taken as new when it reads the answer itself. */
async function admitReplacedDevices(batch: KeyBatch, answer: JsonObject): Promise<void> {
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

/** An answer to one request can make another: a claimed key makes a message, a query a claim. */
const ROUNDS = 4;

type OutgoingRequest = Awaited<ReturnType<OlmMachine['outgoingRequests']>>[number];

/** Sends all that the machine has to say, and opens sessions again that were found broken. */
export async function sendOutgoing(batch: KeyBatch): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const requests = await batch.olm.outgoingRequests();
    for (const request of requests) await sendRequest(batch, request);
    const claim = await batch.olm.getMissingSessions([]);
    if (claim != null) await sendRequest(batch, claim);
    if (requests.length === 0 && claim == null) return;
  }
}

/** Asks for device lists that may have changed, and for nothing else. */
export async function sendQueries(batch: KeyBatch): Promise<void> {
  for (const request of await batch.olm.outgoingRequests()) {
    if (request instanceof KeysQueryRequest) await sendRequest(batch, request);
  }
}

export async function sendRequest(batch: KeyBatch, request: OutgoingRequest | KeysClaimRequest): Promise<void> {
  if (request instanceof KeysUploadRequest) return uploadKeys(batch, request);
  if (request instanceof ToDeviceRequest) return sendToDevices(batch, request);
  const { olm, http, signal } = batch;
  if (request instanceof KeysQueryRequest) {
    const answer = withoutDeep(await http(post(['keys', 'query'], request.body), signal));
    batch.prepared.clear();
    await admitReplacedDevices(batch, answer);
    await olm.markRequestAsSent(request.id, RequestType.KeysQuery, JSON.stringify(answer));
  } else if (request instanceof KeysClaimRequest) {
    const answer = withoutDeep(await http(post(['keys', 'claim'], request.body), signal));
    await olm.markRequestAsSent(request.id, RequestType.KeysClaim, JSON.stringify(answer));
  }
}

async function sendToDevices({ olm, http, store, signal }: KeyBatch, request: ToDeviceRequest): Promise<void> {
  await store();
  const path = ['v3', 'sendToDevice', request.event_type, request.txn_id];
  const answer = await http({ method: 'PUT', path, body: bodyOf(request.body) }, signal);
  await olm.markRequestAsSent(request.id, RequestType.ToDevice, JSON.stringify(answer));
}

async function uploadKeys(batch: KeyBatch, request: KeysUploadRequest): Promise<void> {
  await batch.store();
  const answer = await uploadOrReplace(batch, request);
  if (answer === undefined) return;
  await batch.olm.markRequestAsSent(request.id, RequestType.KeysUpload, JSON.stringify(answer));
}

/** A server that knows other keys under our names has keys of an identity, or of a time, that this store does not hold: they must go. */
async function uploadOrReplace(batch: KeyBatch, { body }: KeysUploadRequest): Promise<JsonObject | undefined> {
  const upload = () => batch.http(post(['keys', 'upload'], body), batch.signal);
  try {
    return await upload();
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  batch.warn(
    'The server keeps newer keys of this device than we do: they are replaced, and keys that came since then are asked for again.',
  );
  await burnOldKeys(batch);
  await changeRoomKeys(batch);
  batch.later(() => batch.file.setFact('settled', 'no'));
  await batch.store();
  try {
    return await upload();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    batch.warn(
      `The server does not take the keys of this device (${error.message}); sign in again: \`talaria peers login\`.`,
    );
    return undefined;
  }
}

function isRefusal(error: unknown): error is PeerError {
  return error instanceof PeerError && error.status === 400;
}

function post(path: readonly string[], body: string) {
  return { method: 'POST', path: ['v3', ...path], body: bodyOf(body), repeatable: true } as const;
}

function bodyOf(text: string): JsonObject {
  const parsed = parseJsonObject(text);
  if (!parsed.ok) throw new PeerError('the encryption made a request that is no JSON', { code: 'peers-encryption' });
  return parsed.value;
}
