// Owns room keys that somebody lacks. Ours: the sender is asked, once a session, with the event that the protocol has for it. Others': a
// device that asks gets new keys with our next message and counts as not reached, so that what it must know is said again. Keys that were
// used before are never sent again. Invariant: nobody but a device that we know can make us change keys, and only a few times a room.
import {
  DecryptionErrorCode,
  DecryptionSettings,
  DeviceId,
  MegolmDecryptionError,
  RoomId,
  TrustRequirement,
} from '@matrix-org/matrix-sdk-crypto-wasm';
import { randomHex } from '#base/ids.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { userIds } from '../foreign/user-ids.ts';
import { greetDevices } from './greet-devices.ts';
import type { KeyBatch } from './key-batch.ts';

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
export async function takeKeyRequests(batch: KeyBatch, events: readonly JsonObject[]): Promise<void> {
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
