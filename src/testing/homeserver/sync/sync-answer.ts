// Owns the whole answer of one `/sync`: what changed for one device since its last one. Knows no HTTP.
// Invariant: a message to a device is handed out until the client comes back with a token from after it.
import type { JsonObject } from '#base/json.ts';
import type { Device } from '../store/account.ts';
import { type SyncPlace, syncToken } from '../store/stream-token.ts';
import type { World, WorldSession } from '../store/world.ts';
import { type DeviceChanges, deviceChanges } from './device-changes.ts';
import { type RoomChanges, roomChanges } from './room-changes.ts';
import type { SyncFilter } from './sync-filter.ts';
import { dataEvents, syncedInvite, syncedRoom } from './sync-room.ts';

export interface SyncRequest {
  readonly session: WorldSession;
  readonly filter: SyncFilter;
  readonly since: SyncPlace | undefined;
}

export interface SyncOutcome {
  readonly body: JsonObject;
  /** Nothing happened: a client that waits goes on waiting. */
  readonly empty: boolean;
}

const DEVICE_PORTION = 100;

export function syncAnswer(world: World, request: SyncRequest): SyncOutcome {
  const { session, filter } = request;
  const { account, device } = session;
  const now = world.position;
  const since = request.since?.position;
  const changes = roomChanges({ account, filter, since, now });
  const { sections, memberEvents } = roomSections(request, changes);
  const entries = changes.entries;
  const newlyJoined = entries.filter((entry) => entry.newlyJoined).map(({ room }) => room);
  const { newlyLeft } = changes;
  const devices =
    since === undefined ? NO_CHANGES : deviceChanges({ world, account, since, newlyJoined, newlyLeft, memberEvents });
  const messages = portion(device, request.since?.toDevice ?? 0);
  const data = globalData(request);
  const place = { position: now, toDevice: messages.complete ? now : messages.until };
  const changed: JsonObject = {
    ...(data.length > 0 && { account_data: { events: data } }),
    ...(messages.events.length > 0 && { to_device: { events: messages.events } }),
    ...(devices.changed.length + devices.left.length > 0 && { device_lists: filled(devices) }),
    ...(Object.keys(sections).length > 0 && { rooms: sections }),
  };
  const body = { next_batch: syncToken(place), ...keyCounts(device), ...changed };
  return { body, empty: Object.keys(changed).length === 0 };
}

const NO_CHANGES: DeviceChanges = { changed: [], left: [] };

/** As Synapse: a list without anybody is left out. */
function filled({ changed, left }: DeviceChanges): JsonObject {
  return { ...(changed.length > 0 && { changed }), ...(left.length > 0 && { left }) };
}

function roomSections({ session, filter, since }: SyncRequest, { entries, invites }: RoomChanges) {
  const { account, device } = session;
  const view = { account, deviceId: device.id, filter, since: since?.position };
  const sections: Record<'join' | 'leave' | 'invite', [string, JsonObject][]> = { join: [], invite: [], leave: [] };
  const memberEvents = [];
  for (const entry of entries) {
    const shown = syncedRoom(view, entry);
    if (!shown) continue;
    sections[entry.section].push([entry.room.id, shown.body]);
    if (since && entry.section === 'join') memberEvents.push(...shown.memberEvents);
  }
  for (const { room, invite } of invites) sections.invite.push([room.id, syncedInvite(room, invite)]);
  const used = Object.entries(sections).filter(([, rooms]) => rooms.length > 0);
  return {
    sections: Object.fromEntries(used.map(([name, rooms]) => [name, Object.fromEntries(rooms)])),
    memberEvents,
  };
}

function globalData({ session, filter, since }: SyncRequest): readonly JsonObject[] {
  const stored = dataEvents(session.account.data, since?.position, { roomData: filter.globalData });
  const rules = { type: 'm.push_rules', content: { global: {} } };
  return since === undefined && filter.globalData.allows(rules) ? [rules, ...stored] : stored;
}

function portion({ inbox }: Device, since: number) {
  const waiting = inbox.filter(({ position }) => position > since);
  const given = waiting.slice(0, DEVICE_PORTION);
  const until = given.at(-1)?.position ?? since;
  return { events: given.map(({ message }) => message), until, complete: given.length === waiting.length };
}

/** The count of the usual algorithm is always there, so that a client knows when there are none. */
function keyCounts({ oneTimeKeys, fallbackKeys }: Device): JsonObject {
  const counts: Record<string, number> = { signed_curve25519: 0 };
  for (const id of oneTimeKeys.keys()) {
    const algorithm = id.split(':')[0] ?? id;
    counts[algorithm] = (counts[algorithm] ?? 0) + 1;
  }
  const unused = [...fallbackKeys].filter(([, key]) => !key.used).map(([algorithm]) => algorithm);
  return { device_one_time_keys_count: counts, device_unused_fallback_key_types: unused };
}
