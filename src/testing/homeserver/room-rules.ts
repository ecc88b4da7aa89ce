// Owns who may do and read what in a room, as Synapse decides it: power levels, membership; and the filter of events
// with its wildcards. Knows no endpoint. Pure.

import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { starTest } from '#base/text/glob.ts';
import { badRequest, forbidden, membershipOf, type Room, type RoomEvent } from './world.ts';

type NamedLevel = 'invite' | 'kick' | 'ban' | 'redact';

const NAMED_DEFAULTS: Readonly<Record<NamedLevel, number>> = { invite: 0, kick: 50, ban: 50, redact: 50 };

export function powerOf(room: Room, userId: string): number {
  const creators = creatorsOf(room.stateEvent('m.room.create'));
  if (room.version >= 12 && creators.includes(userId)) return Number.POSITIVE_INFINITY;
  const levels = room.stateEvent('m.room.power_levels')?.content;
  if (!levels) return creators[0] === userId ? 100 : 0;
  return numberIn(levels.users, userId) ?? numberIn(levels, 'users_default') ?? 0;
}

export function namedLevel(room: Room, name: NamedLevel): number {
  return numberIn(room.stateEvent('m.room.power_levels')?.content, name) ?? NAMED_DEFAULTS[name];
}

export function levelToSend(room: Room, type: string, isState: boolean): number {
  const levels = room.stateEvent('m.room.power_levels')?.content;
  const own = numberIn(levels?.events, type);
  if (own !== undefined) return own;
  if (isState) return numberIn(levels, 'state_default') ?? (levels ? 50 : 0);
  return numberIn(levels, 'events_default') ?? 0;
}

/** The sender of the create event first. */
function creatorsOf(create: RoomEvent | undefined): readonly string[] {
  if (!create) return [];
  const more = create.content.additional_creators;
  return [create.sender, ...(Array.isArray(more) ? more.filter((id): id is string => typeof id === 'string') : [])];
}

export interface PowerRecipe {
  readonly version: number;
  readonly creator: string;
  readonly preset: string;
  readonly invite: readonly string[];
  readonly override?: JsonObject | undefined;
}

/** The first power levels of a room, as Synapse writes them. */
export function initialPowerLevels({ version, creator, preset, invite, override }: PowerRecipe): JsonObject {
  const creatorsRule = version >= 12;
  const equals = preset === 'trusted_private_chat' && !creatorsRule ? invite : [];
  const events = {
    'm.room.name': 50,
    'm.room.power_levels': 100,
    'm.room.history_visibility': 100,
    'm.room.canonical_alias': 50,
    'm.room.avatar': 50,
    'm.room.tombstone': creatorsRule ? 150 : 100,
    'm.room.server_acl': 100,
    'm.room.encryption': 100,
    ...(preset === 'public_chat' && { 'm.call.invite': 50 }),
  };
  return {
    users: creatorsRule ? {} : Object.fromEntries([creator, ...equals].map((id) => [id, 100])),
    users_default: 0,
    events,
    events_default: 0,
    state_default: 50,
    ban: 50,
    kick: 50,
    redact: 50,
    invite: preset === 'public_chat' ? 50 : 0,
    historical: 100,
    ...override,
  };
}

function numberIn(value: unknown, field: string): number | undefined {
  const found = isJsonObject(value) && Object.hasOwn(value, field) ? value[field] : undefined;
  return typeof found === 'number' ? found : undefined;
}

/**
 * How far somebody may read: to the end, or to their own leaving. Synapse lets neither invited nor banned ones read at all.
 * @throws MatrixFailure 403 M_FORBIDDEN
 */
export function readableUntil(room: Room, userId: string): number {
  const own = room.memberEvent(userId);
  const membership = membershipOf(own?.event);
  if (membership === 'join') return Number.POSITIVE_INFINITY;
  if (own && membership === 'leave') return own.position;
  throw forbidden(`User ${userId} not in room ${room.id}, and room previews are disabled`);
}

export interface EventFilter {
  readonly limit: number | undefined;
  /** No type at all is wanted. */
  readonly blocksAll: boolean;
  allows(event: { readonly type: string; readonly sender?: string }): boolean;
  allowsRoom(roomId: string): boolean;
}

export function readEventFilter(value: JsonValue | undefined): EventFilter {
  if (value !== undefined && !isJsonObject(value)) throw badRequest('M_BAD_JSON', 'A filter must be an object');
  const filter: JsonObject = value ?? {};
  const types = list(filter.types)?.map(starTest);
  const notTypes = list(filter.not_types)?.map(starTest) ?? [];
  const senders = list(filter.senders);
  const notSenders = list(filter.not_senders) ?? [];
  const rooms = list(filter.rooms);
  const notRooms = list(filter.not_rooms) ?? [];
  return {
    limit: typeof filter.limit === 'number' ? filter.limit : undefined,
    blocksAll: types?.length === 0,
    allows: ({ type, sender }) =>
      (types?.some((fits) => fits(type)) ?? true) &&
      !notTypes.some((fits) => fits(type)) &&
      (sender === undefined || ((senders?.includes(sender) ?? true) && !notSenders.includes(sender))),
    allowsRoom: (roomId) => (rooms?.includes(roomId) ?? true) && !notRooms.includes(roomId),
  };
}

/** @throws MatrixFailure 400 M_NOT_JSON */
export function parseFilterText(text: string | undefined): JsonObject {
  if (text === undefined) return {};
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) throw badRequest('M_NOT_JSON', 'Invalid filter JSON');
  return parsed.value;
}

function list(value: JsonValue | undefined): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw badRequest('M_BAD_JSON', 'A filter needs lists');
  return value.filter((item): item is string => typeof item === 'string');
}
