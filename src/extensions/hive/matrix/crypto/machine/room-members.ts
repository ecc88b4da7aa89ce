// Owns members of a room whose ids the machine does not take: servers have some of before today's rules. Knows no key. Invariant: such a
// member keeps nobody else from being written to, unless it has a device: it would get words that it can never read.
import { isJsonObject } from '#base/json.ts';
import { PeerError } from '../../../peers/peer-error.ts';
import { userIds } from '../foreign/user-ids.ts';
import type { KeyBatch } from './key-batch.ts';

/** Throws PeerError `peers-encryption` when a member has devices and no id that we could encrypt for. */
export async function refuseOddMembers(batch: KeyBatch, members: readonly string[]): Promise<void> {
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
