// Owns everything that the fake homeserver keeps, in memory: accounts, tokens, rooms, and the one counter that orders all changes.
// Knows no protocol. Invariant: a change has taken its own position before anybody who waits is told of it.
import { randomBytes } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { MatrixFailure } from '../wire/matrix-failure.ts';
import { type Account, type Device, newAccount, newDevice } from './account.ts';
import type { Room } from './room.ts';
import type { RoomEvent, StoredEvent } from './room-event.ts';

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
  readonly aliases = new Map<string, string>();
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

  /** @throws MatrixFailure 404 */
  room(roomId: string): Room {
    const room = this.rooms.get(roomId);
    if (!room) throw new MatrixFailure(404, 'M_NOT_FOUND', `Room ${roomId} not found`);
    return room;
  }
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

export function randomLetters(count: number): string {
  return Array.from(randomBytes(count), (byte) => LETTERS[byte % LETTERS.length]).join('');
}
