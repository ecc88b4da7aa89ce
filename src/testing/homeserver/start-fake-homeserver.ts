// Owns the fake Matrix homeserver: puts store, endpoints and wire together and starts it on 127.0.0.1. Knows no client.
// Invariant: after `stop` nothing of it runs. Seed 004 §layer 4, notes 9.1.
import { systemClock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { directDoors } from './direct-doors.ts';
import { keyRoutes } from './endpoints/keys.ts';
import { privateDataRoutes } from './endpoints/private-data.ts';
import { roomMembershipRoutes } from './endpoints/room-membership.ts';
import { roomReadingRoutes } from './endpoints/room-reading.ts';
import { roomWritingRoutes } from './endpoints/room-writing.ts';
import { signInRoutes } from './endpoints/sign-in.ts';
import { signUpRoutes } from './endpoints/sign-up.ts';
import { syncRoutes } from './endpoints/sync.ts';
import { toDeviceRoutes } from './endpoints/to-device.ts';
import type { FakeHomeserver, FakeHomeserverOptions, HomeserverAccount, HomeserverWire } from './fake-homeserver.ts';
import { World } from './store/world.ts';
import { storedText } from './stored-text.ts';
import type { Route } from './wire/call.ts';
import { type Listener, openListener } from './wire/listener.ts';
import { createRouter } from './wire/router.ts';
import { createWireLog, type WireLog } from './wire/wire-log.ts';

export async function startFakeHomeserver(options: FakeHomeserverOptions = {}): Promise<FakeHomeserver> {
  const { serverName = 'localhost', strict = true, roomVersion = '11', clock = systemClock } = options;
  const { registrationToken, cachesSync = false } = options;
  const world = new World({ serverName, strict, roomVersion, clock, registrationToken, cachesSync });
  const log = createWireLog();
  const router = createRouter(
    world,
    allRoutes(() => url),
  );
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

function allRoutes(baseUrl: () => string): readonly Route[] {
  return [
    ...signUpRoutes(baseUrl),
    ...signInRoutes,
    ...roomMembershipRoutes,
    ...roomReadingRoutes,
    ...roomWritingRoutes,
    ...privateDataRoutes,
    ...syncRoutes,
    ...keyRoutes,
    ...toDeviceRoutes,
  ];
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
