// Owns the order in which messages are encrypted (hivemind notes 5, 8): who may read and with which devices, sessions with each of them,
// the room's key for all, the messages, one store, and only then the keys go out. Knows no timeline.
// Invariant: a failure before the store means that nothing was sent; the same message key is never used for two messages.
import {
  CollectStrategy,
  EncryptionAlgorithm,
  EncryptionSettings,
  HistoryVisibility,
  RoomId,
} from '@matrix-org/matrix-sdk-crypto-wasm';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { PeerError } from '../../../peers/peer-error.ts';
import { userIds } from '../foreign/user-ids.ts';
import type { ClearEvent, EncryptionTarget } from '../room-crypto.ts';
import type { KeyBatch } from './key-batch.ts';
import { refuseOddMembers } from './room-members.ts';
import { sendQueries, sendRequest } from './send-requests.ts';

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
