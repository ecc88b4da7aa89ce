// Owns everything that the fake homeserver keeps, in memory: accounts, tokens, rooms with their timelines, the one counter that orders all changes,
// its text form, and the one way to refuse. Knows no protocol. Invariants: a change has taken its own position before anybody who waits is
// told; the state of a room is what replaying its timeline gives; an event is frozen, redaction puts another object in its place.

import { randomBytes } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import type { JsonObject, JsonValue } from '#base/json.ts';

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

export type RoomState = ReadonlyMap<string, StoredEvent>;

export class Room {
  readonly id: string;
  readonly version: number;
  readonly timeline: StoredEvent[] = [];
  readonly #state = new Map<string, StoredEvent>();

  constructor(id: string, version: number) {
    this.id = id;
    this.version = version;
  }

  get state(): RoomState {
    return this.#state;
  }

  get lastPosition(): number {
    return this.timeline.at(-1)?.position ?? 0;
  }

  append(stored: StoredEvent): void {
    this.timeline.push(stored);
    const name = stateNameOf(stored.event);
    if (name !== undefined) this.#state.set(name, stored);
  }

  stateEvent(type: string, stateKey = ''): RoomEvent | undefined {
    return this.#state.get(stateName(type, stateKey))?.event;
  }

  /** State after everything up to and with `position`. */
  stateAt(position: number): RoomState {
    if (position >= this.lastPosition) return this.#state;
    const state = new Map<string, StoredEvent>();
    for (const stored of this.timeline) {
      if (stored.position > position) break;
      const name = stateNameOf(stored.event);
      if (name !== undefined) state.set(name, stored);
    }
    return state;
  }

  memberEvent(userId: string): StoredEvent | undefined {
    return this.#state.get(stateName('m.room.member', userId));
  }

  membership(userId: string): string | undefined {
    return membershipOf(this.memberEvent(userId)?.event);
  }

  /** Ids of those whose membership is one of these. */
  members(...memberships: readonly string[]): readonly string[] {
    const found: string[] = [];
    for (const { event } of this.#state.values()) {
      if (event.type === 'm.room.member' && memberships.includes(membershipOf(event) ?? '')) {
        found.push(event.state_key ?? '');
      }
    }
    return found;
  }

  find(eventId: string): StoredEvent | undefined {
    return this.timeline.find((stored) => stored.event.event_id === eventId);
  }

  /** Index of the first event after `position`. */
  indexAfter(position: number): number {
    let low = 0;
    let high = this.timeline.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.timeline[middle]?.position ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Right after everything up to and with `position`. */
export function streamToken(position: number): string {
  return `s${position}`;
}

/** Messages to devices are handed out in portions, so `/sync` keeps a second place for them. */
export interface SyncPlace {
  readonly position: number;
  readonly toDevice: number;
}

export function syncToken({ position, toDevice }: SyncPlace): string {
  return toDevice === position ? streamToken(position) : `s${position}_${toDevice}`;
}

/** @throws MatrixFailure 400 M_UNKNOWN */
export function readSyncToken(token: string): SyncPlace {
  const [, digits, second] = /^s(\d{1,15})(?:_(\d{1,15}))?$/.exec(token) ?? [];
  if (digits === undefined) throw badRequest('M_UNKNOWN', 'Invalid stream token');
  return { position: Number(digits), toDevice: Number(second ?? digits) };
}

/** @throws MatrixFailure 400 M_UNKNOWN */
export function readStreamToken(token: string): number {
  return readSyncToken(token).position;
}

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
  readonly devices: Map<string, Device>;
  readonly data: Map<string, DataItem>;
  readonly roomData: Map<string, Map<string, DataItem>>;
  /** Every room with an event of this person's membership, whatever it is now. */
  readonly rooms: Map<string, Room>;
  /** Position of the last change of keys or devices. */
  devicesChanged: number;
}

function newAccount(userId: string, password: string): Account {
  return {
    userId,
    password,
    devices: new Map(),
    data: new Map(),
    roomData: new Map(),
    rooms: new Map(),
    devicesChanged: 0,
  };
}

function newDevice(userId: string, id: string, accessToken: string): Device {
  return {
    id,
    userId,
    accessToken,
    keys: undefined,
    oneTimeKeys: new Map(),
    fallbackKeys: new Map(),
    inbox: [],
    transactions: new Map(),
    syncs: new Map(),
  };
}

/** What stands after the first colon. */
export function serverOf(id: string): string {
  return id.slice(id.indexOf(':') + 1);
}

export interface WorldSettings {
  readonly serverName: string;
  readonly strict: boolean;
  readonly roomVersion: string;
  readonly registrationToken: string | undefined;
  readonly cachesSync: boolean;
  readonly clock: Clock;
}

export interface WorldSession {
  readonly account: Account;
  readonly device: Device;
}

export class World {
  readonly settings: WorldSettings;
  readonly accounts = new Map<string, Account>();
  readonly rooms = new Map<string, Room>();
  readonly #sessions = new Map<string, WorldSession>();
  readonly #waiting = new Set<() => void>();
  #position = 0;

  constructor(settings: WorldSettings) {
    this.settings = settings;
  }

  get position(): number {
    return this.#position;
  }

  /** Takes the next place in the stream. */
  advance(): number {
    this.#position += 1;
    return this.#position;
  }

  /** Tells everybody who waits that something changed. */
  wake(): void {
    for (const run of [...this.#waiting]) run();
  }

  /** Calls `run` at every change; returns what ends that. */
  onChange(run: () => void): () => void {
    this.#waiting.add(run);
    return () => this.#waiting.delete(run);
  }

  session(accessToken: string): WorldSession | undefined {
    return this.#sessions.get(accessToken);
  }

  addAccount(userId: string, password: string): Account {
    const account = newAccount(userId, password);
    this.accounts.set(userId, account);
    // Somebody may have been invited before there was an account.
    for (const room of this.rooms.values()) if (room.memberEvent(userId)) account.rooms.set(room.id, room);
    return account;
  }

  /** Signs in; a device that is there already gets a new token and loses the old one. */
  openSession(
    account: Account,
    deviceId = randomLetters(10),
  ): { readonly device: Device; readonly accessToken: string } {
    const accessToken = `syt_${randomBytes(18).toString('base64url')}`;
    const known = account.devices.get(deviceId);
    if (known?.accessToken !== undefined) this.#sessions.delete(known.accessToken);
    const device = known ?? newDevice(account.userId, deviceId, accessToken);
    device.accessToken = accessToken;
    account.devices.set(deviceId, device);
    if (!known) this.noteDevices(account);
    this.#sessions.set(accessToken, { account, device });
    return { device, accessToken };
  }

  /** The token is unknown afterwards; the device stays. */
  closeSession(accessToken: string): void {
    const session = this.#sessions.get(accessToken);
    if (session) session.device.accessToken = undefined;
    this.#sessions.delete(accessToken);
  }

  removeDevice(account: Account, deviceId: string): void {
    const device = account.devices.get(deviceId);
    if (!device) return;
    if (device.accessToken !== undefined) this.closeSession(device.accessToken);
    account.devices.delete(deviceId);
    this.noteDevices(account);
  }

  /** Those who share a room with them are to ask for their devices again. */
  noteDevices(account: Account): void {
    account.devicesChanged = this.advance();
    this.wake();
  }

  /** Adds an event to a room without asking whether it may be there. */
  append(room: Room, event: RoomEvent, sent?: StoredEvent['sent']): StoredEvent {
    const stored: StoredEvent = { position: this.advance(), event, ...(sent && { sent }) };
    room.append(stored);
    if (event.type === 'm.room.member' && event.state_key !== undefined) {
      this.accounts.get(event.state_key)?.rooms.set(room.id, room);
    }
    this.wake();
    return stored;
  }

  putData(account: Account, type: string, content: JsonObject, roomId?: string): void {
    const item = { content, position: this.advance() };
    if (roomId === undefined) account.data.set(type, item);
    else {
      const ofRoom = account.roomData.get(roomId) ?? new Map();
      account.roomData.set(roomId, ofRoom);
      // Deleted first, so that the order of the map is the order of changes.
      ofRoom.delete(type);
      ofRoom.set(type, item);
    }
    this.wake();
  }

  isLocal(userId: string): boolean {
    return userId.endsWith(`:${this.settings.serverName}`);
  }
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

export function randomLetters(count: number): string {
  return Array.from(randomBytes(count), (byte) => LETTERS[byte % LETTERS.length]).join('');
}

export class MatrixFailure extends Error {
  override readonly name = 'MatrixFailure';
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, more: JsonObject = {}) {
    super(message);
    this.status = status;
    this.body = { errcode: code, error: message, ...more };
    const wait = more.retry_after_ms;
    this.headers = typeof wait === 'number' ? { 'retry-after': String(Math.ceil(wait / 1000)) } : {};
  }
}

export function forbidden(message: string): MatrixFailure {
  return new MatrixFailure(403, 'M_FORBIDDEN', message);
}

export function badRequest(code: string, message: string): MatrixFailure {
  return new MatrixFailure(400, code, message);
}

export function notFound(message: string): MatrixFailure {
  return new MatrixFailure(404, 'M_NOT_FOUND', message);
}
