// Owns the text of everything that the fake homeserver keeps, so that a test can search it for what must not be there.
// Passwords and access tokens are left out: every account has them.
import type { Account, Device } from './store/account.ts';
import type { World } from './store/world.ts';

export function storedText(world: World): string {
  const parts: unknown[] = [];
  for (const room of world.rooms.values()) parts.push({ room: room.id, timeline: room.timeline });
  for (const account of world.accounts.values()) parts.push(accountParts(account));
  return parts.map((part) => JSON.stringify(part)).join('\n');
}

function accountParts({ userId, displayName, data, roomData, devices, filters, crossSigning }: Account): object {
  return {
    userId,
    displayName,
    data: Object.fromEntries(data),
    roomData: [...roomData].map(([room, items]) => [room, Object.fromEntries(items)]),
    filters,
    crossSigning: Object.fromEntries(crossSigning),
    devices: [...devices.values()].map(deviceParts),
  };
}

function deviceParts({ id, displayName, keys, oneTimeKeys, fallbackKeys, inbox }: Device): object {
  return {
    id,
    displayName,
    keys,
    oneTimeKeys: Object.fromEntries(oneTimeKeys),
    fallbackKeys: Object.fromEntries(fallbackKeys),
    inbox,
  };
}
