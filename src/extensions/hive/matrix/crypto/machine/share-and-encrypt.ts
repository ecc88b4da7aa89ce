// Owns the order in which messages are encrypted (hivemind notes 5, 8): who may read and with which devices, sessions with each of them,
// the room's key for all, the messages, one store, and only then the keys go out. Knows no timeline.
// Invariant: a failure before the store means that nothing was sent; the same message key is never used for two messages.
import {
  CollectStrategy,
  EncryptionAlgorithm,
  EncryptionSettings,
  HistoryVisibility,
  RoomId,
  UserId,
} from '@matrix-org/matrix-sdk-crypto-wasm';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { PeerError } from '../../../peers/peer-error.ts';
import type { ClearEvent, EncryptionTarget } from '../room-crypto.ts';
import type { KeyBatch } from './key-batch.ts';
import { sendQueries, sendRequest } from './send-requests.ts';

const MEGOLM = 'm.megolm.v1.aes-sha2';

export async function shareAndEncrypt(
  batch: KeyBatch,
  target: EncryptionTarget,
  events: readonly ClearEvent[],
): Promise<readonly JsonObject[]> {
  const { olm, reached, encrypted } = batch;
  const settings = encryptionSettings(target);
  await prepareDevices(batch, target.members);
  const keys = await olm.shareRoomKey(new RoomId(target.roomId), idsOf(target.members), settings);
  const contents: JsonObject[] = [];
  for (const event of events) contents.push(await encryptOne(batch, target.roomId, event));
  if (!reached.hasSpoken(target.roomId)) batch.later(() => reached.noteSpoken(target.roomId));
  const news = encrypted.news([target]);
  if (news.length > 0) batch.later(() => encrypted.note(news));
  await batch.store();
  for (const request of keys) await sendRequest(batch, request);
  await batch.store({ isLight: true });
  return contents;
}

/** Knows the devices of all members and has sessions with them, as far as they can be had. */
async function prepareDevices(batch: KeyBatch, members: readonly string[]): Promise<void> {
  const key = [...members].sort().join(' ');
  if (batch.prepared.has(key)) return;
  await batch.olm.updateTrackedUsers(idsOf(members));
  await sendQueries(batch);
  const claim = await batch.olm.getMissingSessions(idsOf(members));
  if (claim != null) await sendRequest(batch, claim);
  batch.prepared.add(key);
}

/** Made anew for each call of the machine, which uses them up. */
function idsOf(members: readonly string[]): UserId[] {
  return members.map((id) => new UserId(id));
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
