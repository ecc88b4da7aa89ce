// Owns the reading of one event as a server gives it. Knows no room. Pure; an event that is none is undefined, never a throw.
// Invariant: what comes out has an id and a sender of the right form and a time that can be shown.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { objectAt, textAt } from './json-access.ts';
import { isUserId } from './user-id.ts';

export interface RoomEvent {
  readonly id: string;
  readonly type: string;
  /** Empty in a membership alone, of somebody whose id is none: who is in a room counts, whatever its name. */
  readonly sender: string;
  /** Epoch ms as the sender's server says; 0 when it says nothing usable. */
  readonly at: number;
  readonly content: JsonObject;
  /** Present in events of state. */
  readonly stateKey?: string;
  readonly isRedacted: boolean;
}

const LAST_TIME = 8_640_000_000_000_000;

/** An event of a timeline. */
export function readEvent(value: JsonValue | undefined): RoomEvent | undefined {
  if (!isJsonObject(value)) return undefined;
  const id = textAt(value, 'event_id');
  const plain = readStripped(value);
  return plain === undefined || id === undefined || id === '' || id.length > 255 ? undefined : { ...plain, id };
}

/** An event of state; in an invitation it has no id and no time. */
export function readStripped(value: JsonValue | undefined): RoomEvent | undefined {
  if (!isJsonObject(value)) return undefined;
  const { type, sender, content } = value;
  if (typeof type !== 'string' || !isJsonObject(content)) return undefined;
  const stateKey = textAt(value, 'state_key');
  const isMembership = type === 'm.room.member' && stateKey !== undefined;
  if (!isUserId(sender) && !isMembership) return undefined;
  return {
    id: '',
    type,
    sender: isUserId(sender) ? sender : '',
    content,
    at: eventTime(value.origin_server_ts),
    isRedacted: isJsonObject(objectAt(value, 'unsigned').redacted_because),
    ...(stateKey === undefined ? {} : { stateKey }),
  };
}

function eventTime(value: JsonValue | undefined): number {
  return typeof value === 'number' && value > 0 && value <= LAST_TIME ? Math.floor(value) : 0;
}
