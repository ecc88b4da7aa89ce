// Owns turning a request into an event of a room: permission, size, ids, what it replaces, redaction; changes of membership; the events that a new
// room begins with, in the order of Synapse, for room versions 1 to 12. Knows no HTTP. Invariants: nothing is in the timeline that the rules of
// the room refuse, except through `appendUnchecked` (doors of tests); version 12 ids are the hash of the create event and carry no server.

import { createHash, randomBytes } from 'node:crypto';
import { canonicalJson, type JsonObject } from '#base/json.ts';
import { initialPowerLevels, levelToSend, namedLevel, powerOf } from './room-rules.ts';
import {
  badRequest,
  forbidden,
  MatrixFailure,
  notFound,
  Room,
  type RoomEvent,
  randomLetters,
  type StoredEvent,
  serverOf,
  stateName,
  type World,
} from './world.ts';

export interface NewEvent {
  readonly type: string;
  readonly sender: string;
  readonly content: JsonObject;
  readonly stateKey?: string | undefined;
  readonly redacts?: string | undefined;
  /** Epoch ms; default now. */
  readonly at?: number | undefined;
  readonly sent?: StoredEvent['sent'];
}

const MAX_EVENT_BYTES = 65_536;
/** What hashes, signatures and references add to an event between servers; they count too. */
const ENVELOPE_BYTES = 700;
const MAX_NAME_BYTES = 255;

/** @throws MatrixFailure 403 M_FORBIDDEN, 413 M_TOO_LARGE, 400 */
export function appendEvent(world: World, room: Room, draft: NewEvent): StoredEvent {
  checkAllowed(room, draft);
  checkForm(draft);
  const same = sameState(room, draft);
  return same ?? appendUnchecked(world, room, draft);
}

export function appendUnchecked(world: World, room: Room, draft: NewEvent): StoredEvent {
  const { type, sender, content, stateKey, redacts, at, sent } = draft;
  const replaced = stateKey === undefined ? undefined : room.stateEvent(type, stateKey);
  const inContent = redacts !== undefined && room.version >= 11;
  const event: RoomEvent = {
    type,
    sender,
    content: inContent ? { ...content, redacts } : content,
    event_id: newEventId(room.version, sender),
    origin_server_ts: at ?? world.settings.clock.now(),
    ...(stateKey !== undefined && { state_key: stateKey }),
    ...(redacts !== undefined && { redacts }),
    ...(replaced && { unsigned: replacing(replaced) }),
  };
  const stored = world.append(room, event, sent);
  const target = redacts === undefined ? undefined : room.find(redacts);
  if (target) target.event = withoutContent(target.event, event, room);
  return stored;
}

function replacing(replaced: RoomEvent): JsonObject {
  return { replaces_state: replaced.event_id, prev_content: replaced.content, prev_sender: replaced.sender };
}

/** `$` and a hash; in the first two versions a local name with its server. */
function newEventId(version: number, sender: string): string {
  if (version < 3) return `$${randomBytes(12).toString('hex')}:${serverOf(sender)}`;
  return `$${createHash('sha256').update(randomBytes(16)).digest('base64url')}`;
}

function checkAllowed(room: Room, { type, sender, content, stateKey, redacts }: NewEvent): void {
  if (type === 'm.room.member' && stateKey !== undefined) {
    checkMembership(room, { sender, target: stateKey, membership: String(content.membership) });
    return;
  }
  if (room.membership(sender) !== 'join') throw forbidden(`User ${sender} not in room ${room.id}`);
  if (type === 'm.room.create') throw forbidden('The create event of a room cannot be changed');
  const power = powerOf(room, sender);
  const needed = levelToSend(room, type, stateKey !== undefined);
  if (power < needed) {
    throw forbidden(
      `You don't have permission to post that to the room. user_level (${power}) < send_level (${needed})`,
    );
  }
  if (stateKey?.startsWith('@') && stateKey !== sender) throw forbidden('You are not allowed to set others state');
  if (redacts !== undefined) checkRedaction(room, sender, redacts);
}

function checkRedaction(room: Room, sender: string, eventId: string): void {
  const target = room.find(eventId);
  if (!target) throw notFound(`Could not find event ${eventId}`);
  if (target.event.sender !== sender && powerOf(room, sender) < 50) {
    throw forbidden("You don't have permission to redact events");
  }
}

/** What is there already is not put there again. */
function sameState(room: Room, { type, sender, content, stateKey }: NewEvent): StoredEvent | undefined {
  const known = stateKey === undefined ? undefined : room.state.get(stateName(type, stateKey));
  const same = known?.event.sender === sender && canonicalJson(known.event.content) === canonicalJson(content);
  return same ? known : undefined;
}

const NEEDED_TEXTS: Readonly<Record<string, readonly string[]>> = {
  'm.room.message': ['body', 'msgtype'],
  'm.room.name': ['name'],
  'm.room.topic': ['topic'],
};

function checkForm({ type, content, stateKey = '' }: NewEvent): void {
  for (const field of NEEDED_TEXTS[type] ?? []) {
    if (!Object.hasOwn(content, field)) throw badRequest('M_UNKNOWN', `'${field}' not in content`);
    if (typeof content[field] !== 'string') throw badRequest('M_UNKNOWN', `'${field}' not a string type`);
  }
  const bytes = Buffer.byteLength(JSON.stringify(content)) + ENVELOPE_BYTES;
  if (bytes > MAX_EVENT_BYTES) throw new MatrixFailure(413, 'M_TOO_LARGE', 'event too large');
  if (Buffer.byteLength(type) > MAX_NAME_BYTES) throw new MatrixFailure(413, 'M_TOO_LARGE', "'type' too large");
  if (Buffer.byteLength(stateKey) > MAX_NAME_BYTES)
    throw new MatrixFailure(413, 'M_TOO_LARGE', "'state_key' too large");
  if (type === '') throw badRequest('M_INVALID_PARAM', 'An event needs a type');
}

const KEPT: Readonly<Record<string, readonly string[]>> = {
  'm.room.member': ['membership', 'join_authorised_via_users_server'],
  'm.room.join_rules': ['join_rule', 'allow'],
  'm.room.history_visibility': ['history_visibility'],
  'm.room.power_levels': [
    'ban',
    'events',
    'events_default',
    'invite',
    'kick',
    'redact',
    'state_default',
    'users',
    'users_default',
  ],
};

function withoutContent(event: RoomEvent, because: RoomEvent, room: Room): RoomEvent {
  const { unsigned, ...rest } = event;
  return {
    ...rest,
    content: keptContent(event, room.version),
    unsigned: { ...unsigned, redacted_by: because.event_id, redacted_because: { ...because, room_id: room.id } },
  };
}

function keptContent({ type, content }: RoomEvent, version: number): JsonObject {
  const kept = type === 'm.room.create' ? (version >= 11 ? Object.keys(content) : ['creator']) : (KEPT[type] ?? []);
  return Object.fromEntries(Object.entries(content).filter(([field]) => kept.includes(field)));
}

/** Who changes whose membership, and to what; the same person twice: one's own. */
interface MembershipChange {
  readonly sender: string;
  readonly target: string;
  readonly membership: string;
  readonly reason?: string | undefined;
  readonly more?: JsonObject;
}

/** In the order and with the words of Synapse. @throws MatrixFailure 403 M_FORBIDDEN */
function checkMembership(room: Room, { sender, target, membership }: MembershipChange): void {
  const own = room.membership(sender);
  if (membership === 'join') {
    checkJoin(room, sender, target);
    return;
  }
  if (membership === 'leave' && sender === target && (own === 'invite' || own === 'knock')) return;
  if (own !== 'join') throw forbidden(`${sender} not in room ${room.id}.`);
  if (membership === 'invite') checkInvite(room, sender, target);
  else if (membership === 'leave') checkLeave(room, sender, target);
  else if (membership === 'ban') checkBan(room, sender, target);
  else throw forbidden(`Unknown membership ${membership}`);
}

function checkJoin(room: Room, sender: string, target: string): void {
  const current = room.membership(target);
  if (sender !== target) throw forbidden('Cannot force another user to join.');
  if (current === 'ban') throw forbidden('You are banned from this room');
  const isCreatorsFirst = room.timeline.length === 1 && room.timeline[0]?.event.sender === sender;
  if (isCreatorsFirst || room.stateEvent('m.room.join_rules')?.content.join_rule === 'public') return;
  if (current !== 'join' && current !== 'invite') throw forbidden('You are not invited to this room.');
}

function checkInvite(room: Room, sender: string, target: string): void {
  const current = room.membership(target);
  if (current === 'ban') throw forbidden(`${target} is banned from the room`);
  if (current === 'join') throw forbidden(`${target} is already in the room.`);
  if (powerOf(room, sender) < namedLevel(room, 'invite')) throw forbidden("You don't have permission to invite users");
}

function checkLeave(room: Room, sender: string, target: string): void {
  const power = powerOf(room, sender);
  if (room.membership(target) === 'ban' && power < namedLevel(room, 'ban'))
    throw forbidden(`You cannot unban user ${target}.`);
  if (target !== sender && (power < namedLevel(room, 'kick') || power <= powerOf(room, target)))
    throw forbidden(`You cannot kick user ${target}.`);
}

function checkBan(room: Room, sender: string, target: string): void {
  const power = powerOf(room, sender);
  if (power < namedLevel(room, 'ban')) throw forbidden("You don't have permission to ban");
  if (power <= powerOf(room, target)) throw forbidden("You don't have permission to ban this user");
}

/** @throws MatrixFailure 403 M_FORBIDDEN; 404 when nobody is in the room any more */
export function joinRoom(world: World, room: Room, userId: string, reason?: string): void {
  if (room.membership(userId) === 'ban') throw badState('Cannot join user who was banned');
  // Synapse treats a room without anybody in it as a room of other servers.
  if (room.members('join').length === 0) throw noServers();
  change(world, room, { sender: userId, target: userId, membership: 'join', reason });
}

export function noServers(): MatrixFailure {
  const text = "Can't join remote room because no servers that are in the room have been provided.";
  return new MatrixFailure(404, 'M_UNKNOWN', text);
}

/** @throws MatrixFailure 403 M_FORBIDDEN, 502 when the server of that person cannot be reached */
export function inviteUser(world: World, room: Room, invitation: Omit<MembershipChange, 'membership'>): void {
  const { target } = invitation;
  if (room.membership(target) === 'ban') throw badState('Cannot invite user who was banned');
  if (!world.isLocal(target) && !world.accounts.has(target))
    throw new MatrixFailure(502, 'M_UNKNOWN', "Can't connect to the server of that user");
  change(world, room, { ...invitation, membership: 'invite' });
}

export function leaveRoom(world: World, room: Room, userId: string, reason?: string): void {
  change(world, room, { sender: userId, target: userId, membership: 'leave', reason });
}

export function removeUser(
  world: World,
  room: Room,
  act: 'kick' | 'ban' | 'unban',
  removal: Omit<MembershipChange, 'membership'>,
): void {
  const current = room.membership(removal.target);
  if (act === 'kick' && current === 'ban') throw badState('Cannot kick user who was banned');
  if (act === 'kick' && (current === undefined || current === 'leave'))
    throw forbidden('The target user is not in the room');
  if (act === 'unban' && current !== 'ban')
    throw badState(`Cannot unban user who was not banned (membership=${current ?? 'None'})`);
  change(world, room, { ...removal, membership: act === 'ban' ? 'ban' : 'leave' });
}

function change(world: World, room: Room, { sender, target, membership, reason, more }: MembershipChange): void {
  const content: JsonObject = { membership, ...(reason !== undefined && { reason }), ...more };
  const current = room.memberEvent(target)?.event;
  if (current?.sender === sender && canonicalJson(current.content) === canonicalJson(content)) return;
  appendEvent(world, room, { type: 'm.room.member', sender, stateKey: target, content });
}

function badState(message: string): MatrixFailure {
  return new MatrixFailure(403, 'M_BAD_STATE', message);
}

export interface InitialState {
  readonly type: string;
  readonly stateKey: string;
  readonly content: JsonObject;
}

export interface RoomRecipe {
  readonly creator: string;
  readonly version: string;
  readonly preset: string;
  readonly invite: readonly string[];
  readonly isDirect: boolean;
  readonly initialState: readonly InitialState[];
  readonly more: {
    readonly name?: string | undefined;
    readonly topic?: string | undefined;
    readonly creationContent: JsonObject;
    readonly powerLevels?: JsonObject | undefined;
  };
}

const ROOM_VERSIONS: readonly string[] = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12'];

/** @throws MatrixFailure */
export function createRoom(world: World, recipe: RoomRecipe): Room {
  if (!ROOM_VERSIONS.includes(recipe.version)) {
    throw badRequest('M_UNSUPPORTED_ROOM_VERSION', 'Your homeserver does not support this room version');
  }
  const room = openRoom(world, recipe);
  const { creator } = recipe;
  const add = (type: string, content: JsonObject, stateKey = '') =>
    appendEvent(world, room, { type, sender: creator, content, stateKey });
  add('m.room.member', { membership: 'join' }, creator);
  for (const { type, stateKey, content } of stateOf(recipe)) add(type, content, stateKey);
  if (recipe.more.name !== undefined) add('m.room.name', { name: recipe.more.name });
  if (recipe.more.topic !== undefined) add('m.room.topic', topicContent(recipe.more.topic));
  const more = recipe.isDirect ? { is_direct: true } : {};
  for (const target of recipe.invite) inviteUser(world, room, { sender: creator, target, more });
  return room;
}

function openRoom(world: World, { creator, version, more, preset, invite }: RoomRecipe): Room {
  const number = Number(version);
  const createId = newEventId(number, creator);
  const id = number >= 12 ? `!${createId.slice(1)}` : `!${randomLetters(18)}:${world.settings.serverName}`;
  const room = new Room(id, number);
  world.rooms.set(id, room);
  const content: JsonObject = {
    ...more.creationContent,
    ...(number < 11 && { creator }),
    ...(number >= 12 && preset === 'trusted_private_chat' && invite.length > 0 && { additional_creators: invite }),
    room_version: version,
  };
  const event = { type: 'm.room.create', sender: creator, content, event_id: createId, state_key: '' };
  world.append(room, { ...event, origin_server_ts: world.settings.clock.now() });
  return room;
}

function topicContent(topic: string): JsonObject {
  return { topic, 'm.topic': { 'm.text': [{ body: topic }] } };
}

function stateOf(recipe: RoomRecipe): readonly InitialState[] {
  const { preset, initialState, more } = recipe;
  const isPublic = preset === 'public_chat';
  const given = new Map(initialState.map((item) => [stateName(item.type, item.stateKey), item]));
  const power = given.get(stateName('m.room.power_levels', ''));
  given.delete(stateName('m.room.power_levels', ''));
  const levels = initialPowerLevels({ ...recipe, version: Number(recipe.version), override: more.powerLevels });
  const own = (type: string, content: JsonObject): InitialState => ({ type, stateKey: '', content });
  const defaults = [
    own('m.room.join_rules', { join_rule: isPublic ? 'public' : 'invite' }),
    own('m.room.history_visibility', { history_visibility: 'shared' }),
    ...(isPublic ? [] : [own('m.room.guest_access', { guest_access: 'can_join' })]),
  ].filter((item) => !given.has(stateName(item.type, '')));
  return [power ?? own('m.room.power_levels', levels), ...defaults, ...given.values()];
}

/** As in `/sync`, which tells the room around it. */
export function syncedEvent({ event, sent }: StoredEvent, deviceId: string): RoomEvent {
  if (sent?.deviceId !== deviceId) return event;
  return { ...event, unsigned: { ...event.unsigned, transaction_id: sent.transactionId } };
}

/** As everywhere else. */
export function clientEvent(room: Room, stored: StoredEvent, deviceId: string): JsonObject {
  return { ...syncedEvent(stored, deviceId), room_id: room.id };
}

/** As somebody sees it who is not in the room. */
export function strippedEvent({ type, sender, content, state_key }: RoomEvent): JsonObject {
  return { type, sender, content, state_key: state_key ?? '' };
}
