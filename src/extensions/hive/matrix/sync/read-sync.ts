// Owns the sections of a sync answer and of one room in it. Knows no book. Pure; what is malformed is left out, all else is read.
import type { JsonObject } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import { PeerError } from '../../peers/peer-error.ts';
import type { KeyChanges } from '../crypto/room-crypto.ts';
import { objectAt, objectsAt, textAt, textsAt } from '../events/json-access.ts';
import { type RoomEvent, readEvent, readStripped } from '../events/room-event.ts';
import { isRoomId } from '../rooms/room-book.ts';

export interface SyncAnswer {
  /** Position for the next one. */
  readonly next: string;
  readonly joined: readonly (readonly [roomId: string, room: JsonObject])[];
  readonly invited: readonly (readonly [roomId: string, room: JsonObject])[];
  readonly left: readonly (readonly [roomId: string, room: JsonObject])[];
  /** Events of the user's account data. */
  readonly accountData: readonly JsonObject[];
  readonly keys: KeyChanges;
}

/** It goes into the address of the next request. */
const MAX_POSITION = 4_096;

/** Throws `peers-bad-response` when it is no answer to a sync at all. */
export function readSync(answer: JsonObject): SyncAnswer {
  const next = textAt(answer, 'next_batch');
  if (next === undefined || next === '' || next.length > MAX_POSITION)
    throw new PeerError('the server answered a sync without a position that can be used', {
      code: 'peers-bad-response',
      retryable: true,
      fix: 'Check MATRIX_HOMESERVER: it must be the address of a Matrix homeserver.',
    });
  const rooms = objectAt(answer, 'rooms');
  return {
    next,
    joined: roomsAt(rooms, 'join'),
    invited: roomsAt(rooms, 'invite'),
    left: roomsAt(rooms, 'leave'),
    accountData: objectsAt(objectAt(answer, 'account_data'), 'events'),
    keys: readKeys(answer, next),
  };
}

export interface RoomNews {
  /** State and timeline in their order. */
  readonly state: readonly RoomEvent[];
  readonly timeline: readonly RoomEvent[];
  readonly isLimited: boolean;
  readonly accountData: readonly JsonObject[];
}

export function readRoomNews(room: JsonObject): RoomNews {
  const timeline = eventsOf(objectsAt(objectAt(room, 'timeline'), 'events'), readEvent);
  return {
    state: [...eventsOf(objectsAt(objectAt(room, 'state'), 'events'), readStripped), ...timeline.filter(isState)],
    timeline,
    isLimited: objectAt(room, 'timeline').limited === true,
    accountData: objectsAt(objectAt(room, 'account_data'), 'events'),
  };
}

export function readInviteState(room: JsonObject): readonly RoomEvent[] {
  return eventsOf(objectsAt(objectAt(room, 'invite_state'), 'events'), readStripped);
}

function isState(event: RoomEvent): boolean {
  return event.stateKey !== undefined;
}

function eventsOf(list: readonly JsonObject[], read: typeof readEvent): readonly RoomEvent[] {
  return list.flatMap((item) => read(item) ?? []);
}

function roomsAt(rooms: JsonObject, key: string): SyncAnswer['joined'] {
  return Object.entries(objectAt(rooms, key)).flatMap(([id, room]) =>
    isRoomId(id) && isJsonObject(room) ? [[id, room] as const] : [],
  );
}

function readKeys(answer: JsonObject, next: string): KeyChanges {
  const lists = objectAt(answer, 'device_lists');
  const counts = Object.entries(objectAt(answer, 'device_one_time_keys_count'));
  const unused = answer.device_unused_fallback_key_types;
  return {
    toDevice: objectsAt(objectAt(answer, 'to_device'), 'events'),
    changed: textsAt(lists, 'changed'),
    left: textsAt(lists, 'left'),
    oneTimeKeyCounts: Object.fromEntries(
      counts.flatMap(([name, count]) => (typeof count === 'number' ? [[name, count]] : [])),
    ),
    ...(Array.isArray(unused) ? { unusedFallbackKeyTypes: textsAt(answer, 'device_unused_fallback_key_types') } : {}),
    next,
  };
}
