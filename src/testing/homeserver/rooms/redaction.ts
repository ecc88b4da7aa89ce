// Owns what is left of an event when its content is taken away: what the rules of rooms need. Pure.
import type { JsonObject } from '#base/json.ts';
import type { Room } from '../store/room.ts';
import type { RoomEvent } from '../store/room-event.ts';

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

export function withoutContent(event: RoomEvent, because: RoomEvent, room: Room): RoomEvent {
  const { unsigned, ...rest } = event;
  return {
    ...rest,
    content: keptContent(event, room.version),
    unsigned: { ...unsigned, redacted_by: because.event_id, redacted_because: { ...because, room_id: room.id } },
  };
}

function keptContent(event: RoomEvent, version: number): JsonObject {
  if (event.type === 'm.room.create') return version >= 11 ? event.content : pick(event.content, ['creator']);
  return pick(event.content, KEPT[event.type] ?? []);
}

function pick(content: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(
    fields.filter((field) => Object.hasOwn(content, field)).map((field) => [field, content[field]]),
  );
}
