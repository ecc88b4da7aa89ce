// Owns the question which devices of a room's other members have never got our messages (hivemind notes 5: who first signs in after the
// introduction). Knows no message. Invariant: it sends nothing but questions for device lists.

import { userIds } from '../foreign/user-ids.ts';
import type { EncryptionTarget, LateDevice } from '../room-crypto.ts';
import type { KeyBatch } from './key-batch.ts';
import { sendQueries } from './send-requests.ts';

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
