// Owns the filter of events in `/sync` and `/messages`: types and senders with wildcards, rooms, limit. Pure.
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { badRequest } from '../wire/matrix-failure.ts';

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
  const types = list(filter.types)?.map(pattern);
  const notTypes = list(filter.not_types)?.map(pattern) ?? [];
  const senders = list(filter.senders);
  const notSenders = list(filter.not_senders) ?? [];
  const rooms = list(filter.rooms);
  const notRooms = list(filter.not_rooms) ?? [];
  return {
    limit: typeof filter.limit === 'number' ? filter.limit : undefined,
    blocksAll: types?.length === 0,
    allows: ({ type, sender }) =>
      (types?.some((one) => one.test(type)) ?? true) &&
      !notTypes.some((one) => one.test(type)) &&
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

function pattern(text: string): RegExp {
  const parts = text.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}
