// Owns who may do what in a room: power levels with the defaults of the Matrix rules, creators of version 12 above all of them.
// Knows no endpoint. Pure.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Room } from '../store/room.ts';
import type { RoomEvent } from '../store/room-event.ts';

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
