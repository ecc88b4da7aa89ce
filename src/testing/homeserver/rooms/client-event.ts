// Owns how an event looks to a client: with its room, and with the transaction id for the device that sent it. Pure.
import type { JsonObject } from '#base/json.ts';
import type { Room } from '../store/room.ts';
import type { RoomEvent, StoredEvent } from '../store/room-event.ts';

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
