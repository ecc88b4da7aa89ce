// Owns messages of a room. Out: who may read and with which devices, sessions, the room's key, the messages, one store, and only then the keys
// go out (hivemind notes 5, 8); a member whose id the machine does not take keeps nobody else from being written to, unless it has a device.
// In: decrypting, and the checks that crypto-wasm leaves to its caller: with `Untrusted` it also opens a message that somebody copied out of
// another's event. Invariants: a failure before the store means that nothing was sent; no message key is used for two messages; what comes
// out was made by a device of the user who sent the event, for this room, and is not read under a second event.
import {
  CollectStrategy,
  DecryptionErrorCode,
  DecryptionSettings,
  EncryptionAlgorithm,
  EncryptionSettings,
  HistoryVisibility,
  MegolmDecryptionError,
  type OlmMachine,
  RoomId,
  TrustRequirement,
} from '@matrix-org/matrix-sdk-crypto-wasm';
import { isJsonObject, type JsonObject, parseJsonObject } from '#base/json.ts';
import { PeerError } from '../peer.ts';
import type { OpenedMessages } from './crypto-file.ts';
import { type KeyBatch, messagePlace, userIds } from './key-batch.ts';
import { sendQueries, sendRequest } from './key-exchange.ts';
import type { LostSessions } from './receive-keys.ts';
import type { ClearEvent, EncryptionTarget } from './room-crypto.ts';

const MEGOLM = 'm.megolm.v1.aes-sha2';

export async function shareAndEncrypt(
  batch: KeyBatch,
  target: EncryptionTarget,
  events: readonly ClearEvent[],
): Promise<readonly JsonObject[]> {
  const { reached, encrypted, ownSessions } = batch;
  const settings = encryptionSettings(target);
  await prepareDevices(batch, target.members);
  const { keys, contents } = await sealWithOwn(batch, { target, settings, events });
  if (!reached.hasSpoken(target.roomId)) batch.later(() => reached.noteSpoken(target.roomId));
  const news = encrypted.news([target]);
  if (news.length > 0) batch.later(() => encrypted.note(news));
  await batch.store();
  ownSessions.note(target.roomId, contents.at(-1));
  for (const request of keys) await sendRequest(batch, request);
  await batch.store({ isLight: true });
  return contents;
}

interface Sealing {
  readonly target: EncryptionTarget;
  readonly settings: EncryptionSettings;
  readonly events: readonly ClearEvent[];
}

interface Sealed {
  readonly keys: Awaited<ReturnType<KeyBatch['olm']['shareRoomKey']>>;
  readonly contents: readonly JsonObject[];
}

/** With the session that this process began, else with a new one. */
async function sealWithOwn(batch: KeyBatch, sealing: Sealing): Promise<Sealed> {
  const { olm, ownSessions } = batch;
  const { roomId } = sealing.target;
  if (ownSessions.isCertain(roomId)) return seal(batch, sealing);
  if (ownSessions.isPossible(roomId)) {
    const sealed = await seal(batch, sealing);
    if (ownSessions.isNext(roomId, sealed.contents[0])) return sealed;
  }
  await olm.invalidateGroupSession(new RoomId(roomId));
  return seal(batch, sealing);
}

async function seal(batch: KeyBatch, { target, settings, events }: Sealing): Promise<Sealed> {
  const { roomId, members } = target;
  const keys = await batch.olm.shareRoomKey(new RoomId(roomId), userIds(members), settings);
  const contents: JsonObject[] = [];
  for (const event of events) contents.push(await encryptOne(batch, roomId, event));
  return { keys, contents };
}

/** Knows the devices of all members and has sessions with them, as far as they can be had. */
async function prepareDevices(batch: KeyBatch, members: readonly string[]): Promise<void> {
  const key = [...members].sort().join(' ');
  if (batch.prepared.has(key)) return;
  await refuseOddMembers(batch, members);
  await batch.olm.updateTrackedUsers(userIds(members));
  await sendQueries(batch);
  const claim = await batch.olm.getMissingSessions(userIds(members));
  if (claim != null) await sendRequest(batch, claim);
  batch.prepared.add(key);
}

async function encryptOne({ olm }: KeyBatch, roomId: string, { type, content }: ClearEvent): Promise<JsonObject> {
  const text = await olm.encryptRoomEvent(new RoomId(roomId), type, JSON.stringify(content));
  const parsed = parseJsonObject(text);
  if (parsed.ok && parsed.value.algorithm === MEGOLM) return parsed.value;
  throw new PeerError('the encryption gave something that is not encrypted', { code: 'peers-encryption' });
}

function encryptionSettings({ roomId, settings }: EncryptionTarget): EncryptionSettings {
  if (settings.algorithm !== MEGOLM) {
    throw new PeerError(`${roomId} asks for an encryption that we do not know`, { code: 'peers-encryption' });
  }
  const made = new EncryptionSettings();
  made.algorithm = EncryptionAlgorithm.MegolmV1AesSha2;
  made.sharingStrategy = CollectStrategy.allDevices();
  made.historyVisibility = HistoryVisibility.Shared;
  const { rotation_period_ms: period, rotation_period_msgs: messages } = settings;
  if (isCount(period)) made.rotationPeriod = BigInt(period) * 1_000n;
  if (isCount(messages)) made.rotationPeriodMessages = BigInt(messages);
  return made;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

interface Outer {
  readonly roomId: string;
  readonly event: JsonObject;
  readonly sender: string;
  readonly content: JsonObject;
}

export interface EventReader {
  readonly olm: OlmMachine;
  readonly opened: OpenedMessages;
  readonly lost: LostSessions;
}

/** Undefined: no key, damaged, read before under another event, or not what it claims to be. What could be had later is noted in `lost`. */
export async function readEvent(
  reader: EventReader,
  { roomId, event }: { readonly roomId: string; readonly event: JsonObject },
): Promise<ClearEvent | undefined> {
  const { sender, content, event_id: eventId } = event;
  if (event.type !== 'm.room.encrypted' || typeof sender !== 'string' || !isJsonObject(content)) return undefined;
  if (event.room_id !== undefined && event.room_id !== roomId) return undefined;
  const place = messagePlace(content);
  if (place === undefined || typeof eventId !== 'string') return undefined;
  const clear = await decrypt(reader, { roomId, event, sender, content });
  return clear !== undefined && (await reader.opened.claim({ roomId, eventId, ...place })) ? clear : undefined;
}

async function decrypt({ olm, lost }: EventReader, outer: Outer): Promise<ClearEvent | undefined> {
  try {
    return await open(olm, outer, lost);
  } catch (error) {
    if (error instanceof Error && error.name === 'RuntimeError') throw error; // the machine broke; all else is the event's fault
    const { roomId, sender, event } = outer;
    const { session_id: sessionId } = outer.content;
    const isMissing = error instanceof MegolmDecryptionError && error.code === DecryptionErrorCode.MissingRoomKey;
    if (isMissing && typeof sessionId === 'string') lost.noteMissing({ roomId, sender, sessionId, event });
    return undefined;
  }
}

async function open(
  olm: OlmMachine,
  { roomId, event, sender }: Outer,
  lost: LostSessions,
): Promise<ClearEvent | undefined> {
  const settings = new DecryptionSettings(TrustRequirement.Untrusted);
  const whole = JSON.stringify({ ...event, room_id: roomId });
  const opened = await olm.decryptRoomEvent(whole, new RoomId(roomId), settings);
  // A device is named only when it is one of the sender's own: not when the message was made by somebody else's.
  if (opened.senderDevice === undefined) {
    lost.noteUnknown(sender);
    return undefined;
  }
  return opened.sender.toString() === sender ? clearEvent(opened.event, sender, roomId) : undefined;
}

function clearEvent(text: string, sender: string, roomId: string): ClearEvent | undefined {
  const parsed = parseJsonObject(text);
  if (!parsed.ok) return undefined;
  const { type, content, ...outer } = parsed.value;
  if (outer.sender !== sender || outer.room_id !== roomId || outer.state_key !== undefined) return undefined;
  if (typeof type !== 'string' || type === 'm.room.encrypted' || !isJsonObject(content)) return undefined;
  return { type, content };
}

/** Throws PeerError `peers-encryption` when a member has devices and no id that we could encrypt for. */
async function refuseOddMembers(batch: KeyBatch, members: readonly string[]): Promise<void> {
  const odd = members.filter((id) => userIds([id]).length === 0);
  for (const id of odd) {
    if (!(await hasDevice(batch, id))) continue;
    throw new PeerError(`nothing can be encrypted for ${id}: its id is not of the form that the encryption takes`, {
      code: 'peers-encryption',
      forModel: 'nothing can be sent where this peer listens: messages cannot be protected for its id',
    });
  }
}

async function hasDevice({ http, signal }: KeyBatch, id: string): Promise<boolean> {
  const body = { device_keys: { [id]: [] }, timeout: 10_000 };
  try {
    const answer = await http({ method: 'POST', path: ['v3', 'keys', 'query'], body, repeatable: true }, signal);
    const users = isJsonObject(answer.device_keys) ? answer.device_keys : {};
    const devices = Object.hasOwn(users, id) ? users[id] : undefined;
    return isJsonObject(devices) && Object.keys(devices).length > 0;
  } catch (error) {
    if (error instanceof PeerError && error.status === 400) return false; // to the server it is no id either
    throw error;
  }
}
