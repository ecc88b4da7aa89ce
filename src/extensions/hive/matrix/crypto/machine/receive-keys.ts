// Owns the order in which what a sync brought of keys is taken in (hivemind notes 5, 8): machine, store together with the position, and
// only then requests. Knows no timeline. Invariant: the position is stored with the keys that came before it, or not at all.
import {
  DecryptionSettings,
  DeviceLists,
  TrustRequirement,
  UTDToDeviceEvent,
} from '@matrix-org/matrix-sdk-crypto-wasm';
import { parseJsonObject } from '#base/json.ts';
import { isDeep, MAX_LEVELS } from '../foreign/json-depth.ts';
import { userIds } from '../foreign/user-ids.ts';
import type { KeyChanges } from '../room-crypto.ts';
import type { KeyBatch } from './key-batch.ts';
import { type LostSessions, takeKeyRequests } from './lost-sessions.ts';
import { burnOldKeys, isKnownOtherwise } from './own-keys.ts';
import { sendOutgoing } from './send-requests.ts';

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
