// Owns `GET /sync`: the filter, which rooms it speaks of and how each looks, whose devices are to be asked for again, and waiting. The bounds and
// their quirks are Synapse's. Invariants: a message to a device is handed out until the client comes back with a token from after it; an
// invitation shows stripped state only.

import { isJsonObject, type JsonObject } from '#base/json.ts';
import { numberQuery, type Route, type SignedCall } from './calls.ts';
import { strippedEvent, syncedEvent } from './room-events.ts';
import { type EventFilter, parseFilterText, readEventFilter } from './room-rules.ts';
import {
  type Account,
  type DataItem,
  type Device,
  membershipOf,
  type Room,
  type RoomEvent,
  readSyncToken,
  type StoredEvent,
  type SyncPlace,
  stateName,
  stateNameOf,
  streamToken,
  syncToken,
  type World,
  type WorldSession,
} from './world.ts';

interface DeviceChanges {
  readonly changed: readonly string[];
  readonly left: readonly string[];
}

function deviceChanges(
  { session: { account }, since }: SyncRequest,
  world: World,
  { entries, newlyLeft }: RoomChanges,
  memberEvents: readonly RoomEvent[],
): DeviceChanges {
  if (since === undefined) return { changed: [], left: [] };
  const newlyJoined = entries.filter((entry) => entry.newlyJoined).map(({ room }) => room);
  const changed = new Set<string>();
  const left = new Set<string>();
  for (const event of memberEvents) sortMember(event, changed, left);
  for (const id of newlyJoined.flatMap((room) => room.members('join'))) changed.add(id);
  for (const id of newlyLeft.flatMap((room) => room.members('join'))) left.add(id);
  for (const id of withNewDevices(world, account, since.position)) changed.add(id);
  for (const id of left) if (sharesRoom(account, id)) left.delete(id);
  return { changed: [...changed], left: [...left] };
}

function withNewDevices(world: World, account: Account, since: number): readonly string[] {
  const recent = [...world.accounts.values()].filter((one) => one.devicesChanged > since);
  return recent.filter((one) => one === account || sharesRoom(account, one.userId)).map(({ userId }) => userId);
}

function sortMember(
  { state_key: id = '', unsigned, ...event }: RoomEvent,
  changed: Set<string>,
  left: Set<string>,
): void {
  if (['join', 'invite'].includes(String(event.content.membership))) {
    changed.add(id);
    left.delete(id);
    return;
  }
  if (isJsonObject(unsigned?.prev_content) && unsigned.prev_content.membership === 'join') left.add(id);
  changed.delete(id);
}

function sharesRoom(account: Account, other: string): boolean {
  for (const room of account.rooms.values()) {
    if (room.membership(other) === 'join' && room.membership(account.userId) === 'join') return true;
  }
  return false;
}

interface SyncRequest {
  readonly session: WorldSession;
  readonly filter: SyncFilter;
  readonly since: SyncPlace | undefined;
}

const DEVICE_PORTION = 100;

/** `empty`: nothing happened, a client that waits goes on waiting. */
function syncAnswer(world: World, request: SyncRequest): { readonly body: JsonObject; readonly empty: boolean } {
  const { account, device } = request.session;
  const now = world.position;
  const changes = roomChanges(request, now);
  const { sections, memberEvents } = roomSections(request, changes);
  const devices = deviceChanges(request, world, changes, memberEvents);
  const messages = portion(device, request.since?.toDevice ?? 0);
  const data = dataEvents(account.data, request.since?.position, request.filter.globalData);
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

/** As Synapse: a list without anybody is left out. */
function filled({ changed, left }: DeviceChanges): JsonObject {
  return { ...(changed.length > 0 && { changed }), ...(left.length > 0 && { left }) };
}

function roomSections(request: SyncRequest, { entries, invites }: RoomChanges) {
  const sections: Record<'join' | 'leave' | 'invite', [string, JsonObject][]> = { join: [], invite: [], leave: [] };
  const memberEvents = [];
  for (const entry of entries) {
    const shown = syncedRoom(request, entry);
    if (!shown) continue;
    sections[entry.section].push([entry.room.id, shown.body]);
    if (request.since && entry.section === 'join') memberEvents.push(...shown.memberEvents);
  }
  for (const { room, invite } of invites) sections.invite.push([room.id, syncedInvite(room, invite)]);
  const used = Object.entries(sections).filter(([, rooms]) => rooms.length > 0);
  return {
    sections: Object.fromEntries(used.map(([name, rooms]) => [name, Object.fromEntries(rooms)])),
    memberEvents,
  };
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

/** With the events of membership that it shows. Undefined: nothing to tell. */
function syncedRoom({ session, filter, ...request }: SyncRequest, entry: RoomEntry) {
  const { account, device } = session;
  const { room, until, newlyJoined } = entry;
  // Synapse forgets the earlier place of a room in `join` that was joined again, and keeps it for one in `leave`.
  const since = newlyJoined && entry.section === 'join' ? undefined : request.since?.position;
  const full = since === undefined || newlyJoined;
  const left = entry.section === 'leave';
  const batch = timelineBatch({ room, filter, until, since, newlyJoined, left });
  const data = dataEvents(account.roomData.get(room.id), request.since?.position, filter.roomData);
  if (!full && batch.events.length === 0 && data.length === 0) return undefined;
  const delta = stateDelta(room, batch, until, full ? undefined : since);
  const state = delta.filter(({ event }) => filter.state.allows(event));
  const shown = [...state, ...batch.events].map(({ event }) => event);
  const body: JsonObject = {
    timeline: {
      events: batch.events.map((stored) => syncedEvent(stored, device.id)),
      prev_batch: streamToken(batch.before),
      limited: batch.limited,
    },
    state: { events: state.map((stored) => syncedEvent(stored, device.id)) },
    account_data: { events: data },
    ...(!left && { ephemeral: { events: [] }, unread_notifications: NOTHING_UNREAD, summary: {} }),
  };
  return { body, memberEvents: shown.filter((event) => event.type === 'm.room.member') };
}

const NOTHING_UNREAD = { notification_count: 0, highlight_count: 0 };

function dataEvents(
  data: ReadonlyMap<string, DataItem> | undefined,
  since: number | undefined,
  filter: EventFilter,
): readonly JsonObject[] {
  const events: JsonObject[] = [];
  for (const [type, { content, position }] of data ?? []) {
    if (position > (since ?? 0) && filter.allows({ type })) events.push({ type, content });
  }
  return events;
}

const PREVIEW = [
  'm.room.create',
  'm.room.join_rules',
  'm.room.canonical_alias',
  'm.room.avatar',
  'm.room.encryption',
  'm.room.name',
  'm.room.topic',
];

function syncedInvite(room: Room, invite: StoredEvent): JsonObject {
  const state = room.stateAt(invite.position);
  const names = [...PREVIEW.map((type) => stateName(type, '')), stateName('m.room.member', invite.event.sender)];
  const shown = names.map((name) => state.get(name)?.event).filter((event) => event !== undefined);
  return { invite_state: { events: [...shown, invite.event].map(strippedEvent) } };
}

/** @param since undefined: all of it */
function stateDelta(
  room: Room,
  batch: TimelineBatch,
  until: number,
  since: number | undefined,
): readonly StoredEvent[] {
  if (since !== undefined && !batch.limited && isUnbroken(room, batch, since)) return [];
  const end = room.stateAt(until);
  const first = batch.events[0];
  const start = first ? room.stateAt(first.position) : end;
  const previous = new Set(since === undefined ? [] : room.stateAt(since).values());
  // Of one piece of state only the last one counts as handed out: Synapse repeats earlier ones of the stretch beside it.
  const handedOut = new Set(new Map(batch.events.map((stored) => [stateNameOf(stored.event), stored])).values());
  const delta = new Map<string, StoredEvent>();
  for (const stored of [...start.values(), ...end.values()]) {
    const name = stateNameOf(stored.event);
    if (name !== undefined && !previous.has(stored) && !handedOut.has(stored)) delta.set(name, stored);
  }
  return [...delta.values()];
}

function isUnbroken(room: Room, batch: TimelineBatch, since: number): boolean {
  const first = room.indexAfter(since);
  return batch.events.every((stored, index) => room.timeline[first + index] === stored);
}

interface BatchRequest {
  readonly room: Room;
  readonly filter: SyncFilter;
  /** Last position that may be handed out. */
  readonly until: number;
  /** Undefined: the room is new to this client. */
  readonly since: number | undefined;
  /** They joined since then: the client is told that it knows no history. */
  readonly newlyJoined: boolean;
  /** A room that they have left: Synapse pages it even when little happened. */
  readonly left: boolean;
}

interface TimelineBatch {
  readonly events: readonly StoredEvent[];
  readonly limited: boolean;
  /** Position right before the first of `events`. */
  readonly before: number;
}

const REPEATS = 5;

function timelineBatch(request: BatchRequest): TimelineBatch {
  const { room, filter, until, since, newlyJoined, left } = request;
  const first = since === undefined || newlyJoined ? 0 : room.indexAfter(since);
  const end = room.indexAfter(until);
  const isShort = since !== undefined && !newlyJoined && !left && end - first <= filter.timelineLimit;
  if (isShort || filter.timeline.blocksAll) {
    const events = wanted(request, first, end);
    return { events, limited: false, before: (events[0]?.position ?? until + 1) - 1 };
  }
  return lastOf(request, first, end);
}

/** Reads portions from the end backwards until there are enough events, or too many portions. */
function lastOf(request: BatchRequest, first: number, end: number): TimelineBatch {
  const limit = request.filter.timelineLimit;
  const portion = Math.max(limit * 2, 10);
  let low = end;
  let events: readonly StoredEvent[] = [];
  for (let turn = 0; turn < REPEATS && low > first && events.length < limit; turn += 1) {
    const from = Math.max(first, low - portion);
    events = [...wanted(request, from, low), ...events];
    low = from;
  }
  const cut = events.length > limit;
  const kept = cut ? events.slice(events.length - limit) : events;
  const before = cut ? (kept[0]?.position ?? request.until + 1) - 1 : request.until;
  return { events: kept, limited: cut || low > first || request.newlyJoined, before };
}

function wanted({ room, filter }: BatchRequest, from: number, to: number): readonly StoredEvent[] {
  return room.timeline.slice(from, to).filter((stored) => filter.timeline.allows(stored.event));
}

interface RoomEntry {
  readonly room: Room;
  readonly section: 'join' | 'leave';
  readonly until: number;
  readonly newlyJoined: boolean;
}

interface RoomChanges {
  readonly entries: RoomEntry[];
  readonly invites: { readonly room: Room; readonly invite: StoredEvent }[];
  readonly newlyLeft: Room[];
}

function roomChanges(request: SyncRequest, now: number): RoomChanges {
  const found: RoomChanges = { entries: [], invites: [], newlyLeft: [] };
  const { account } = request.session;
  for (const room of account.rooms.values()) {
    if (!request.filter.rooms.allowsRoom(room.id)) continue;
    if (request.since === undefined) sortFirst(request, now, room, found);
    else sortLater(account, { since: request.since.position, now }, room, found);
  }
  return found;
}

function sortFirst({ session, filter }: SyncRequest, now: number, room: Room, { entries, invites }: RoomChanges): void {
  const { account } = session;
  const own = room.memberEvent(account.userId);
  const membership = membershipOf(own?.event);
  if (!own) return;
  if (membership === 'join') entries.push({ room, section: 'join', until: now, newlyJoined: false });
  else if (membership === 'invite') invites.push({ room, invite: own });
  // Rooms that somebody was removed from are told even to a client that did not ask for left ones.
  else if (filter.includeLeave || membership === 'ban' || own.event.sender !== account.userId) {
    entries.push({ room, section: 'leave', until: own.position, newlyJoined: false });
  }
}

function sortLater(
  account: Account,
  { since, now }: { readonly since: number; readonly now: number },
  room: Room,
  found: RoomChanges,
): void {
  const isIn = room.membership(account.userId) === 'join';
  if (room.lastPosition <= since && !(isIn && hasNewData(account, room, since))) return;
  const changes = ownChanges(room, account.userId, since);
  const wasIn = membershipOf(room.stateAt(since).get(stateName('m.room.member', account.userId))?.event) === 'join';
  const others = changes.filter(({ event }) => membershipOf(event) !== 'join');
  if (isIn) {
    const newlyJoined = others.length > 0 || (changes.length > 0 && !wasIn);
    found.entries.push({ room, section: 'join', until: now, newlyJoined });
    return;
  }
  if (others.length === 0) return;
  const joinedMeanwhile = others.length < changes.length;
  if (wasIn || joinedMeanwhile) found.newlyLeft.push(room);
  sortOut(room, others, joinedMeanwhile && !wasIn, found);
}

/** They are not in it now. */
function sortOut(room: Room, others: readonly StoredEvent[], newlyJoined: boolean, found: RoomChanges): void {
  const last = others.at(-1);
  if (last && membershipOf(last.event) === 'invite') found.invites.push({ room, invite: last });
  const leaving = others.findLast(({ event }) => ['leave', 'ban'].includes(membershipOf(event) ?? ''));
  if (leaving) found.entries.push({ room, section: 'leave', until: leaving.position, newlyJoined });
}

function hasNewData(account: Account, room: Room, since: number): boolean {
  return [...(account.roomData.get(room.id)?.values() ?? [])].some(({ position }) => position > since);
}

function ownChanges(room: Room, userId: string, since: number): readonly StoredEvent[] {
  return room.timeline
    .slice(room.indexAfter(since))
    .filter(({ event }) => event.type === 'm.room.member' && event.state_key === userId);
}

type SyncFilter = ReturnType<typeof readSyncFilter>;

const DEFAULT_TIMELINE = 10;
const MAX_TIMELINE = 100;

/** @throws MatrixFailure 400 M_NOT_JSON, M_INVALID_PARAM */
function readSyncFilter(text: string | undefined) {
  const filter = parseFilterText(text);
  const room = isJsonObject(filter.room) ? filter.room : {};
  const timeline = readEventFilter(room.timeline);
  return {
    timeline,
    timelineLimit: Math.min(timeline.limit ?? DEFAULT_TIMELINE, MAX_TIMELINE),
    state: readEventFilter(room.state),
    roomData: readEventFilter(room.account_data),
    globalData: readEventFilter(filter.account_data),
    rooms: readEventFilter({ rooms: room.rooms, not_rooms: room.not_rooms }),
    includeLeave: room.include_leave === true,
  };
}

export const syncRoutes: readonly Route[] = [{ method: 'GET', path: 'sync', signed: sync }];

const LONGEST_WAIT_MS = 60_000;

const CACHED_MS = 120_000;

async function sync(call: SignedCall): Promise<JsonObject> {
  const { world, device, query } = call;
  if (!world.settings.cachesSync) return freshSync(call);
  const key = JSON.stringify([query.since, query.filter, query.timeout, query.full_state]);
  const now = world.settings.clock.monotonic();
  const cached = device.syncs.get(key);
  if (cached && cached.until > now) return cached.body;
  const body = await freshSync(call);
  device.syncs.set(key, { body, until: now + CACHED_MS });
  return body;
}

async function freshSync(call: SignedCall): Promise<JsonObject> {
  const { world, account, device, query, signal } = call;
  const since = query.since === undefined ? undefined : readSyncToken(query.since);
  const filter = readSyncFilter(query.filter);
  const wait = Math.min(numberQuery(query, 'timeout') ?? 0, LONGEST_WAIT_MS);
  // What the client has acknowledged is forgotten.
  const kept = device.inbox.filter(({ position }) => position > (since?.toDevice ?? 0));
  device.inbox.splice(0, device.inbox.length, ...kept);
  const request = { session: { account, device }, filter, since };
  const { clock } = world.settings;
  const until = clock.monotonic() + wait;
  for (;;) {
    const { body, empty } = syncAnswer(world, request);
    const left = until - clock.monotonic();
    if (!empty || !since || left <= 0 || signal.aborted) return body;
    await somethingChanged(call, left);
  }
}

function somethingChanged({ world, signal }: SignedCall, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      unhook();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = world.settings.clock.after(ms, done);
    const unhook = world.onChange(done);
    signal.addEventListener('abort', done, { once: true });
  });
}
