// Owns what a sync brings of keys: machine, store together with the position, and only then requests (hivemind notes 5, 8); and keys that
// somebody lacks. Ours: the sender is asked, once a session. Others': a device that asks gets new keys with our next message and counts as
// not reached. Whoever gets a message over a new session uses it from then on: so broken sessions, and those of a store put back from a copy,
// are replaced. Invariants: the position is stored with the keys before it, or not at all; keys that were used are never sent again; nobody
// but a device that we know can make us change keys, and only a few times a room; a device with which we have a session gets no greeting.
import {
  DecryptionErrorCode,
  DecryptionSettings,
  DeviceId,
  DeviceLists,
  type KeysClaimRequest,
  MegolmDecryptionError,
  RoomId,
  TrustRequirement,
  UserId,
  UTDToDeviceEvent,
} from '@matrix-org/matrix-sdk-crypto-wasm';
import { randomHex } from '#base/ids.ts';
import { isJsonObject, type JsonObject, parseJsonObject } from '#base/json.ts';
import type { CryptoFile } from './crypto-file.ts';
import { isDeep, type KeyBatch, MAX_LEVELS, userIds } from './key-batch.ts';
import { burnOldKeys, isKnownOtherwise, sendOutgoing, sendQueries, sendRequest } from './key-exchange.ts';
import type { EncryptionTarget, KeyChanges, LateDevice } from './room-crypto.ts';

const REQUEST = 'm.room_key_request';
/** Requests of one batch; the others wait for the next. */
const AT_ONCE = 20;

export interface MissingKey {
  readonly roomId: string;
  readonly sender: string;
  readonly sessionId: string;
  /** One that could not be read. */
  readonly event: JsonObject;
}

export class LostSessions {
  readonly #missing = new Map<string, MissingKey>();
  readonly #senders = new Set<string>();

  /** An event could not be read for want of its key. */
  noteMissing(key: MissingKey): void {
    if (this.#missing.size < 1_000) this.#missing.set(`${key.sender} ${key.sessionId}`, key);
  }

  /** No device of this user is known that made what came from it, or no session with it works. */
  noteUnknown(sender: string): void {
    this.#senders.add(sender);
  }

  /** Gets to know the devices of such users, makes sessions with those that have none, and asks for the keys. */
  async ask(batch: KeyBatch): Promise<void> {
    const isOther = ({ sender }: MissingKey) => sender !== batch.userId;
    const waiting = [...this.#missing].filter(([id, key]) => isOther(key) && !batch.reached.hasAsked(id));
    const asked: [string, MissingKey][] = [];
    for (const one of waiting.slice(0, AT_ONCE)) if (await isStillMissing(batch, one[1])) asked.push(one);
    await greetDevices(batch, [...new Set([...this.#senders, ...asked.map(([, { sender }]) => sender)])]);
    this.#senders.clear();
    for (const [id, key] of asked) {
      await askSender(batch, key);
      batch.later(() => batch.reached.noteAsked(id));
    }
    this.#missing.clear();
    for (const [id, key] of waiting.slice(AT_ONCE)) this.#missing.set(id, key);
  }
}

/** The key may have come since. */
async function isStillMissing({ olm }: KeyBatch, { roomId, event }: MissingKey): Promise<boolean> {
  try {
    const settings = new DecryptionSettings(TrustRequirement.Untrusted);
    await olm.decryptRoomEvent(JSON.stringify({ ...event, room_id: roomId }), new RoomId(roomId), settings);
    return false;
  } catch (error) {
    return error instanceof MegolmDecryptionError && error.code === DecryptionErrorCode.MissingRoomKey;
  }
}

async function askSender({ http, deviceId, signal }: KeyBatch, key: MissingKey): Promise<void> {
  const id = randomHex(16);
  const content = {
    action: 'request',
    body: { algorithm: 'm.megolm.v1.aes-sha2', room_id: key.roomId, session_id: key.sessionId },
    request_id: id,
    requesting_device_id: deviceId,
  };
  const body = { messages: { [key.sender]: { '*': content } } };
  await http({ method: 'PUT', path: ['v3', 'sendToDevice', REQUEST, id], body }, signal);
}

/** Takes in what others ask for among the messages of a sync. */
async function takeKeyRequests(batch: KeyBatch, events: readonly JsonObject[]): Promise<void> {
  for (const event of events) {
    if (event.type === REQUEST) await takeKeyRequest(batch, event);
  }
}

async function takeKeyRequest(batch: KeyBatch, event: JsonObject): Promise<void> {
  const asked = readRequest(event);
  if (asked === undefined || asked.userId === batch.userId) return;
  const { roomId, ...device } = asked;
  if (!batch.reached.hasSpoken(roomId) || !batch.reached.mayLose(roomId, device)) return;
  const [owner] = userIds([device.userId]);
  const known = owner && (await batch.olm.getDevice(owner, new DeviceId(device.deviceId)));
  if (known === undefined) return;
  await batch.olm.invalidateGroupSession(new RoomId(roomId));
  batch.later(() => batch.reached.noteLoss(roomId, device));
}

interface AskedFor {
  readonly userId: string;
  readonly deviceId: string;
  readonly roomId: string;
}

function readRequest({ sender, content }: JsonObject): AskedFor | undefined {
  if (!isJsonObject(content) || content.action !== 'request' || !isJsonObject(content.body)) return undefined;
  const { requesting_device_id: deviceId } = content;
  const { room_id: roomId } = content.body;
  if (typeof sender !== 'string' || typeof deviceId !== 'string' || typeof roomId !== 'string') return undefined;
  return { userId: sender, deviceId, roomId };
}

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

async function greetDevices(batch: KeyBatch, users: readonly string[]): Promise<void> {
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

/** What a sync says of a device for which the server keeps no keys. */
const NOTHING_KEPT = { oneTimeKeyCounts: { signed_curve25519: 0 }, unusedFallbackKeyTypes: [] };

export async function receiveKeys(batch: KeyBatch, received: KeyChanges, lost: LostSessions): Promise<void> {
  const changes = withoutDeep(batch, received);
  const { olm, file, encrypted } = batch;
  batch.prepared.clear();
  const hasOldKeys = file.fact('settled') !== 'yes' && (await replacesOldKeys(batch));
  if (changes.isInitial === true && file.fact('position') !== undefined) await olm.markAllTrackedUsersAsDirty();
  const unread = await takeChanges(batch, hasOldKeys ? { ...changes, ...NOTHING_KEPT } : changes);
  await takeKeyRequests(batch, changes.toDevice);
  const rooms = encrypted.news(changes.encrypted ?? []);
  batch.later(() => {
    file.setFact('position', changes.next);
    encrypted.note(rooms);
  });
  await batch.store();
  await sendOutgoing(batch);
  for (const sender of unread) lost.noteUnknown(sender);
  await lost.ask(batch);
  if (file.fact('settled') === undefined) batch.later(() => file.setFact('settled', 'yes'));
  await batch.store({ isLight: true });
}

/** Anybody can send us such a message, and the sync would stop at it for ever. */
function withoutDeep({ warn }: KeyBatch, changes: KeyChanges): KeyChanges {
  const toDevice = changes.toDevice.filter((event) => !isDeep(event));
  if (toDevice.length === changes.toDevice.length) return changes;
  warn(`A message about keys was left out: it was nested deeper than ${MAX_LEVELS} levels.`);
  return { ...changes, toDevice };
}

/** A new store under a name that the server knows: what it keeps for us can be opened by nobody any more. */
async function replacesOldKeys(batch: KeyBatch): Promise<boolean> {
  const isRestored = batch.file.fact('settled') === 'no';
  const isLost = await isKnownOtherwise(batch);
  if (!isLost && !isRestored) return false;
  if (isLost) {
    batch.warn(
      'The keys of this device were lost: messages from before cannot be read; programs that keep to the old keys need a new sign-in (`talaria peers login`).',
    );
  }
  await burnOldKeys(batch);
  return true;
}

/** Gives who sent messages that could not be read. */
async function takeChanges({ olm }: KeyBatch, changes: KeyChanges): Promise<readonly string[]> {
  const events = JSON.stringify(changes.toDevice);
  const lists = new DeviceLists(userIds(changes.changed), userIds(changes.left));
  const counts = new Map(Object.entries(changes.oneTimeKeyCounts));
  const unused = changes.unusedFallbackKeyTypes === undefined ? undefined : new Set(changes.unusedFallbackKeyTypes);
  const settings = new DecryptionSettings(TrustRequirement.Untrusted);
  // A server that says nothing of counts does not mean that there are none.
  const taken =
    counts.size === 0
      ? await olm.receiveSyncChangesMsc4186(events, lists, counts, unused, settings)
      : await olm.receiveSyncChanges(events, lists, counts, unused, settings);
  return taken.flatMap((event) => (event instanceof UTDToDeviceEvent ? senderOf(event.rawEvent) : []));
}

function senderOf(text: string): string[] {
  const parsed = parseJsonObject(text);
  return parsed.ok && typeof parsed.value.sender === 'string' ? [parsed.value.sender] : [];
}

export async function findLateDevices(batch: KeyBatch, target: EncryptionTarget): Promise<readonly LateDevice[]> {
  const others = [...new Set(target.members)].filter((id) => id !== batch.userId);
  await batch.olm.updateTrackedUsers(userIds(others));
  await sendQueries(batch);
  const late: LateDevice[] = [];
  for (const user of userIds(others)) {
    const userId = user.toString();
    const devices = await batch.olm.getUserDevices(user);
    for (const device of devices.devices()) {
      const found = { userId, deviceId: device.deviceId.toString() };
      const canRead = !device.isDeleted() && device.curve25519Key !== undefined;
      if (canRead && !batch.reached.isReached(target.roomId, found)) late.push(found);
    }
  }
  await batch.store({ isLight: true });
  return late;
}
