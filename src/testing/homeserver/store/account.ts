// Owns what the fake homeserver keeps of one person: devices, private data, rooms. Knows no endpoint.
import type { JsonObject, JsonValue } from '#base/json.ts';
import type { Room } from './room.ts';

export interface DataItem {
  readonly content: JsonObject;
  readonly position: number;
}

export interface DeviceMessage {
  readonly position: number;
  readonly message: JsonObject;
}

export interface FallbackKey {
  readonly id: string;
  readonly key: JsonValue;
  used: boolean;
}

export interface Device {
  readonly id: string;
  readonly userId: string;
  accessToken: string | undefined;
  displayName: string | undefined;
  /** Signed identity keys, as uploaded. */
  keys: JsonObject | undefined;
  /** `algorithm:id` to key, in the order of their upload. */
  readonly oneTimeKeys: Map<string, JsonValue>;
  /** Newest one an algorithm. */
  readonly fallbackKeys: Map<string, FallbackKey>;
  readonly inbox: DeviceMessage[];
  /** What was answered to a request with a transaction id; the key names endpoint and target too. */
  readonly transactions: Map<string, JsonObject>;
  /** Answers of `/sync` that a server with a cache gives again; `until` on the monotonic clock. */
  readonly syncs: Map<string, { readonly body: JsonObject; readonly until: number }>;
}

export interface Account {
  readonly userId: string;
  password: string;
  displayName: string | undefined;
  readonly devices: Map<string, Device>;
  readonly data: Map<string, DataItem>;
  readonly roomData: Map<string, Map<string, DataItem>>;
  /** Every room with an event of this person's membership, whatever it is now. */
  readonly rooms: Map<string, Room>;
  readonly filters: JsonObject[];
  /** `master`, `self_signing`, `user_signing`. */
  readonly crossSigning: Map<string, JsonObject>;
  /** Position of the last change of keys or devices. */
  devicesChanged: number;
}

export function newAccount(userId: string, password: string): Account {
  return {
    userId,
    password,
    displayName: localpart(userId),
    devices: new Map(),
    data: new Map(),
    roomData: new Map(),
    rooms: new Map(),
    filters: [],
    crossSigning: new Map(),
    devicesChanged: 0,
  };
}

export function newDevice(userId: string, id: string, accessToken: string): Device {
  return {
    id,
    userId,
    accessToken,
    displayName: undefined,
    keys: undefined,
    oneTimeKeys: new Map(),
    fallbackKeys: new Map(),
    inbox: [],
    transactions: new Map(),
    syncs: new Map(),
  };
}

function localpart(userId: string): string {
  return userId.slice(1).split(':')[0] ?? '';
}

/** What stands after the first colon. */
export function serverOf(id: string): string {
  return id.slice(id.indexOf(':') + 1);
}
