// Owns the fake Matrix homeserver: what a test holds of it (accounts, the wire with its faults, doors past the protocol) and its start on 127.0.0.1
// (seed 004 layer 4, notes 9.1). Invariants: everything that a door does could have been done by some other client or by time; after `stop`
// nothing of it runs.
import { type Clock, systemClock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import type { Teardown } from '../temp-home.ts';
import { accountRoutes, keyRoutes } from './account-endpoints.ts';
import { createRouter } from './calls.ts';
import {
  createWireLog,
  type HomeserverFault,
  type HomeserverRequest,
  type Listener,
  openListener,
  type WireLog,
} from './listener.ts';
import { roomRoutes } from './room-endpoints.ts';
import { appendUnchecked, clientEvent, createRoom, joinRoom } from './room-events.ts';
import { syncRoutes } from './sync.ts';
import { type Account, type Device, type Room, World } from './world.ts';

export interface FakeHomeserverOptions {
  /** The part after the colon of ids; may have a port. Default `localhost`. */
  readonly serverName?: string;
  /** Default true: every POST and PUT needs `Content-Type: application/json` and a JSON object, as Continuwuity wants it. */
  readonly strict?: boolean;
  /** Version of new rooms, `1` to `12`; default `11`. */
  readonly roomVersion?: string;
  /** Registration then asks for this token instead of nothing. */
  readonly registrationToken?: string;
  /** As Synapse does by default: the same `/sync` of the same device gets the same answer again for two minutes. Default false. */
  readonly cachesSync?: boolean;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** A test context: the server stops when the test ends. */
  readonly context?: Teardown;
}

export interface HomeserverAccount {
  /** `@name:server` */
  readonly userId: string;
  readonly accessToken: string;
  readonly deviceId: string;
  readonly password: string;
}

export interface HomeserverWire {
  /** Frozen, oldest first. */
  requests(): readonly HomeserverRequest[];
  clear(): void;
  /** The next `times` (default 1) requests that match get the fault. Returns what removes it. */
  fail(match: (request: HomeserverRequest) => boolean, fault: HomeserverFault, times?: number): () => void;
  /** Connections are refused until `up()`; the port stays. */
  down(): Promise<void>;
  up(): Promise<void>;
  /** Every client-server request is answered 429 with this delay, until what is returned is called. */
  limitRate(retryAfterMs: number): () => void;
  /** Connections that are open now. */
  readonly openSockets: number;
}

export interface EventDraft {
  readonly type: string;
  readonly content: JsonObject;
  readonly sender: string;
  /** Makes it a state event. */
  readonly stateKey?: string;
  /** Default: now. */
  readonly at?: number;
}

export interface RoomDraft {
  readonly creator: string;
  readonly name?: string;
  readonly invite?: readonly string[];
  readonly join?: readonly string[];
  /** Texts that the creator sends after the invitations. */
  readonly messages?: readonly string[];
  readonly creationContent?: JsonObject;
  /** Default false. True: megolm. */
  readonly encrypted?: boolean;
}

/** Doors past the protocol. They throw `homeserver-unknown` for a room or account that there is not. */
export interface HomeserverDoors {
  /** Signs up without HTTP; an id of another server is a person of that server, seen through federation. */
  addAccount(localOrUserId: string): HomeserverAccount;
  /** A room with members and messages, without HTTP: thousands a second. Gives its id. */
  addRoom(draft: RoomDraft): string;
  /** Appends an event to the timeline, whatever power levels say. Gives its id. */
  inject(roomId: string, draft: EventDraft): string;
  /** Empties an event of its content, as a moderator would. */
  redact(roomId: string, eventId: string, by: string): void;
  /** The token is unknown from now on. */
  expireToken(accessToken: string): void;
  setAccountData(userId: string, type: string, content: JsonObject, roomId?: string): void;
  accountData(userId: string, type: string, roomId?: string): JsonObject | undefined;
  /** Current content of a piece of state. */
  state(roomId: string, type: string, stateKey?: string): JsonObject | undefined;
  /** Everything in the timeline, oldest first, as members see it. */
  timeline(roomId: string): readonly JsonObject[];
  /** Forgets the one-time keys of a device (and its fallback key): somebody took them all. */
  takeKeys(userId: string, deviceId: string): void;
  /** To-device messages that wait for a device. */
  waiting(userId: string, deviceId: string): readonly JsonValue[];
}

export interface FakeHomeserver {
  /** `fake, strict` or `fake`. */
  readonly name: string;
  /** Address without a slash at its end. */
  readonly url: string;
  readonly serverName: string;
  /** A new account, through HTTP. */
  register(local: string): Promise<HomeserverAccount>;
  /** Signs the same account in again: another device with another token. */
  signIn(account: HomeserverAccount): Promise<HomeserverAccount>;
  /** Everything that the server keeps, as text to be searched. Passwords and tokens are left out. */
  storedText(): Promise<string>;
  readonly wire: HomeserverWire;
  readonly doors: HomeserverDoors;
  /** Ends every connection, timer and waiting request. May be called twice. */
  stop(): Promise<void>;
}

export async function startFakeHomeserver(options: FakeHomeserverOptions = {}): Promise<FakeHomeserver> {
  const { serverName = 'localhost', strict = true, roomVersion = '11', clock = systemClock } = options;
  const { registrationToken, cachesSync = false } = options;
  const world = new World({ serverName, strict, roomVersion, clock, registrationToken, cachesSync });
  const log = createWireLog();
  const router = createRouter(world, [...accountRoutes(() => url), ...roomRoutes, ...syncRoutes, ...keyRoutes]);
  const userOf = (accessToken: string) => world.session(accessToken)?.account.userId;
  const listener = await openListener({ router, log, clock, userOf });
  const url = `http://127.0.0.1:${listener.port}`;
  options.context?.after(() => listener.down());
  return {
    name: strict ? 'fake, strict' : 'fake',
    url,
    serverName,
    register: (local) => register(url, local, registrationToken),
    signIn: (account) => signIn(url, account),
    storedText: async () => storedText(world),
    wire: wireOf(log, listener),
    doors: directDoors(world),
    stop: () => listener.down(),
  };
}

function wireOf({ requests, clear, fail, limitRate }: WireLog, listener: Listener): HomeserverWire {
  return {
    requests,
    clear,
    fail,
    limitRate,
    down: listener.down,
    up: listener.up,
    get openSockets() {
      return listener.openSockets;
    },
  };
}

async function register(url: string, local: string, token: string | undefined): Promise<HomeserverAccount> {
  const password = randomHex(12);
  const wanted = { username: local, password };
  const first = await post(url, '/_matrix/client/v3/register', wanted);
  const stages =
    token === undefined
      ? [{ type: 'm.login.dummy' }]
      : [{ type: 'm.login.registration_token', token }, { type: 'm.login.dummy' }];
  let answer = first;
  for (const stage of stages) {
    if (answer.status !== 401) break;
    answer = await post(url, '/_matrix/client/v3/register', {
      ...wanted,
      auth: { ...stage, session: first.body.session },
    });
  }
  return accountOf(answer, password);
}

async function signIn(url: string, { userId, password }: HomeserverAccount): Promise<HomeserverAccount> {
  const identifier = { type: 'm.id.user', user: userId };
  return accountOf(
    await post(url, '/_matrix/client/v3/login', { type: 'm.login.password', identifier, password }),
    password,
  );
}

interface Posted {
  readonly status: number;
  readonly body: JsonObject;
}

async function post(url: string, path: string, body: JsonObject): Promise<Posted> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const parsed = parseJsonObject(await response.text());
  return { status: response.status, body: parsed.ok ? parsed.value : {} };
}

function accountOf({ status, body }: Posted, password: string): HomeserverAccount {
  const { user_id: userId, access_token: accessToken, device_id: deviceId } = body;
  if (typeof userId !== 'string' || typeof accessToken !== 'string' || typeof deviceId !== 'string') {
    throw new TalariaError(`the fake homeserver refused: ${status} ${String(body.error)}`, {
      code: 'homeserver-refused',
    });
  }
  return { userId, accessToken, deviceId, password };
}

function directDoors(world: World): HomeserverDoors {
  const account = (userId: string): Account => known(world.accounts.get(userId), userId);
  const room = (roomId: string): Room => known(world.rooms.get(roomId), roomId);
  const device = (userId: string, id: string): Device => known(account(userId).devices.get(id), id);
  return {
    addAccount: (local) => addAccount(world, local.startsWith('@') ? local : `@${local}:${world.settings.serverName}`),
    addRoom: (draft) => addRoom(world, draft),
    inject: (roomId, { type, content, sender, stateKey, at }) =>
      appendUnchecked(world, room(roomId), { type, content, sender, stateKey, at }).event.event_id,
    redact: (roomId, eventId, by) => {
      appendUnchecked(world, room(roomId), { type: 'm.room.redaction', content: {}, sender: by, redacts: eventId });
    },
    expireToken: (accessToken) => world.closeSession(accessToken),
    setAccountData: (userId, type, content, roomId) => world.putData(account(userId), type, content, roomId),
    accountData: (userId, type, roomId) => {
      const { data, roomData } = account(userId);
      return (roomId === undefined ? data : roomData.get(roomId))?.get(type)?.content;
    },
    state: (roomId, type, stateKey = '') => room(roomId).stateEvent(type, stateKey)?.content,
    timeline: (roomId) => room(roomId).timeline.map((stored) => clientEvent(room(roomId), stored, '')),
    takeKeys: (userId, deviceId) => {
      device(userId, deviceId).oneTimeKeys.clear();
      device(userId, deviceId).fallbackKeys.clear();
    },
    waiting: (userId, deviceId) => device(userId, deviceId).inbox.map(({ message }) => message),
  };
}

function addAccount(world: World, userId: string): HomeserverAccount {
  const password = randomHex(8);
  const { device, accessToken } = world.openSession(world.addAccount(userId, password));
  return { userId, accessToken, deviceId: device.id, password };
}

function addRoom(world: World, draft: RoomDraft): string {
  const { creator, join = [], invite = [], messages = [], encrypted, name } = draft;
  const encryption: JsonObject = { algorithm: 'm.megolm.v1.aes-sha2' };
  const room = createRoom(world, {
    creator,
    version: world.settings.roomVersion,
    preset: 'private_chat',
    invite: [...invite, ...join],
    isDirect: false,
    initialState: encrypted ? [{ type: 'm.room.encryption', stateKey: '', content: encryption }] : [],
    more: { name, creationContent: draft.creationContent ?? {} },
  });
  for (const userId of join) joinRoom(world, room, userId);
  for (const body of messages) {
    appendUnchecked(world, room, { type: 'm.room.message', sender: creator, content: { msgtype: 'm.text', body } });
  }
  return room.id;
}

function known<T>(value: T | undefined, id: string): T {
  if (value === undefined) throw new TalariaError(`the fake homeserver has no ${id}`, { code: 'homeserver-unknown' });
  return value;
}

function storedText(world: World): string {
  const parts: unknown[] = [];
  for (const room of world.rooms.values()) parts.push({ room: room.id, timeline: room.timeline });
  for (const account of world.accounts.values()) parts.push(accountParts(account));
  return parts.map((part) => JSON.stringify(part)).join('\n');
}

function accountParts({ userId, data, roomData, devices }: Account): object {
  return {
    userId,
    data: Object.fromEntries(data),
    roomData: [...roomData].map(([room, items]) => [room, Object.fromEntries(items)]),
    devices: [...devices.values()].map(deviceParts),
  };
}

function deviceParts({ id, keys, oneTimeKeys, fallbackKeys, inbox }: Device): object {
  return {
    id,
    keys,
    oneTimeKeys: Object.fromEntries(oneTimeKeys),
    fallbackKeys: Object.fromEntries(fallbackKeys),
    inbox,
  };
}
