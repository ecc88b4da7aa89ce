// Owns whose device lists a client must ask for again, and whose no more. As Synapse: from what this very answer shows. Pure.
import type { JsonObject } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import type { Account } from '../store/account.ts';
import type { Room } from '../store/room.ts';
import { membershipOf, type RoomEvent } from '../store/room-event.ts';
import type { World } from '../store/world.ts';

export interface DeviceQuestion {
  readonly world: World;
  readonly account: Account;
  readonly since: number;
  readonly newlyJoined: readonly Room[];
  readonly newlyLeft: readonly Room[];
  readonly memberEvents: readonly RoomEvent[];
}

export interface DeviceChanges {
  readonly changed: readonly string[];
  readonly left: readonly string[];
}

export function deviceChanges(question: DeviceQuestion): DeviceChanges {
  const { world, account, since, newlyJoined, newlyLeft, memberEvents } = question;
  const changed = new Set<string>();
  const left = new Set<string>();
  for (const event of memberEvents) sortMember(event, changed, left);
  for (const id of newlyJoined.flatMap((room) => room.members('join'))) changed.add(id);
  for (const id of newlyLeft.flatMap((room) => room.members('join'))) left.add(id);
  for (const id of withNewDevices(world, account, since)) changed.add(id);
  for (const id of left) if (sharesRoom(account, id)) left.delete(id);
  return { changed: [...changed], left: [...left] };
}

function withNewDevices(world: World, account: Account, since: number): readonly string[] {
  const recent = [...world.accounts.values()].filter((one) => one.devicesChanged > since);
  return recent.filter((one) => one === account || sharesRoom(account, one.userId)).map(({ userId }) => userId);
}

function sortMember(event: RoomEvent, changed: Set<string>, left: Set<string>): void {
  const id = event.state_key ?? '';
  const membership = membershipOf(event);
  if (membership === 'join' || membership === 'invite') {
    changed.add(id);
    left.delete(id);
    return;
  }
  if (previousMembership(event.unsigned) === 'join') left.add(id);
  changed.delete(id);
}

function previousMembership(unsigned: JsonObject | undefined): unknown {
  return isJsonObject(unsigned?.prev_content) ? unsigned.prev_content.membership : undefined;
}

export function sharesRoom(account: Account, other: string): boolean {
  for (const room of account.rooms.values()) {
    if (room.membership(other) === 'join' && room.membership(account.userId) === 'join') return true;
  }
  return false;
}
