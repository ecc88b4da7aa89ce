// Owns the shape of an event as the fake homeserver keeps it. Knows no rule. Invariant: an event is frozen; redaction puts another
// object in its place.
import type { JsonObject } from '#base/json.ts';

/** The form that `/sync` gives out: without `room_id`. */
export interface RoomEvent {
  readonly [field: string]: JsonObject[string];
  readonly type: string;
  readonly sender: string;
  readonly content: JsonObject;
  readonly event_id: string;
  readonly origin_server_ts: number;
  readonly state_key?: string;
  readonly redacts?: string;
  readonly unsigned?: JsonObject;
}

export interface StoredEvent {
  /** Place in the one stream of the server. */
  readonly position: number;
  event: RoomEvent;
  /** Known to the device that sent it only. */
  readonly sent?: { readonly deviceId: string; readonly transactionId: string };
}

export function stateName(type: string, stateKey: string): string {
  return `${type}\u0000${stateKey}`;
}

export function stateNameOf(event: RoomEvent): string | undefined {
  return event.state_key === undefined ? undefined : stateName(event.type, event.state_key);
}

/** `join`, `invite`, `leave`, `ban`, `knock`, or undefined when the event is none of a membership. */
export function membershipOf(event: RoomEvent | undefined): string | undefined {
  const membership = event?.content.membership;
  return typeof membership === 'string' ? membership : undefined;
}
