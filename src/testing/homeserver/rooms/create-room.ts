// Owns the events that a new room begins with, in the order of Synapse, for room versions 1 to 12. Knows no HTTP.
// Invariant: version 12 ids are the hash of the create event and carry no server; from version 11 on its content names no creator.
import type { JsonObject } from '#base/json.ts';
import { Room } from '../store/room.ts';
import { stateName } from '../store/room-event.ts';
import { randomLetters, type World } from '../store/world.ts';
import { badRequest } from '../wire/matrix-failure.ts';
import { appendEvent, newEventId } from './append-event.ts';
import { inviteUser } from './change-membership.ts';
import { initialPowerLevels } from './power.ts';

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
    readonly alias?: string | undefined;
    readonly creationContent: JsonObject;
    readonly powerLevels?: JsonObject | undefined;
  };
}

export const ROOM_VERSIONS: readonly string[] = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12'];

/** @throws MatrixFailure */
export function createRoom(world: World, recipe: RoomRecipe): Room {
  if (!ROOM_VERSIONS.includes(recipe.version)) {
    throw badRequest('M_UNSUPPORTED_ROOM_VERSION', 'Your homeserver does not support this room version');
  }
  const room = openRoom(world, recipe);
  const { creator } = recipe;
  const add = (type: string, content: JsonObject, stateKey = '') =>
    appendEvent(world, room, { type, sender: creator, content, stateKey });
  add('m.room.member', joinContent(world, creator), creator);
  for (const { type, stateKey, content } of stateOf(recipe)) add(type, content, stateKey);
  if (recipe.more.name !== undefined) add('m.room.name', { name: recipe.more.name });
  if (recipe.more.topic !== undefined) add('m.room.topic', topicContent(recipe.more.topic));
  for (const invitee of recipe.invite)
    inviteUser(world, room, { sender: creator, target: invitee, isDirect: recipe.isDirect });
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
  const at = world.settings.clock.now();
  world.append(room, {
    type: 'm.room.create',
    sender: creator,
    content,
    event_id: createId,
    origin_server_ts: at,
    state_key: '',
  });
  return room;
}

function topicContent(topic: string): JsonObject {
  return { topic, 'm.topic': { 'm.text': [{ body: topic }] } };
}

function joinContent(world: World, userId: string): JsonObject {
  const displayname = world.accounts.get(userId)?.displayName;
  return { membership: 'join', ...(displayname !== undefined && { displayname }) };
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
    ...(more.alias === undefined ? [] : [own('m.room.canonical_alias', { alias: more.alias })]),
    own('m.room.join_rules', { join_rule: isPublic ? 'public' : 'invite' }),
    own('m.room.history_visibility', { history_visibility: 'shared' }),
    ...(isPublic ? [] : [own('m.room.guest_access', { guest_access: 'can_join' })]),
  ].filter((item) => !given.has(stateName(item.type, '')));
  return [power ?? own('m.room.power_levels', levels), ...defaults, ...given.values()];
}
