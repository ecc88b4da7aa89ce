// Owns the endpoints of one person: registration with its steps, signing in and out, account data, the server's first words, keys of
// devices and messages between them. Knows no cryptography. Invariants: an account comes to be only after every step of a flow was taken in
// one session; a one-time key is handed out once, and the same id with other bytes is refused.
import { randomHex } from '#base/ids.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { Answer, type Call, neededText, objectField, once, type Route, type SignedCall, textField } from './calls.ts';
import { type Account, badRequest, type Device, forbidden, notFound, type World } from './world.ts';

export function accountRoutes(baseUrl: () => string): readonly Route[] {
  const steps = new Map<string, Set<string>>();
  return [
    {
      method: 'GET',
      path: '/_matrix/client/versions',
      open: () => ({ versions: VERSIONS, unstable_features: {} }),
    },
    {
      method: 'GET',
      path: '/.well-known/matrix/client',
      open: () => ({ 'm.homeserver': { base_url: baseUrl() } }),
    },
    { method: 'POST', path: 'register', open: (call) => register(call, steps) },
    { method: 'GET', path: 'login', open: () => ({ flows: [{ type: 'm.login.password' }] }) },
    { method: 'POST', path: 'login', open: login },
    { method: 'POST', path: 'logout', emptyBody: true, signed: logout },
    { method: 'GET', path: 'account/whoami', signed: whoami },
    { method: 'GET', path: 'user/:user/account_data/:type', signed: read },
    { method: 'PUT', path: 'user/:user/account_data/:type', signed: write },
    { method: 'GET', path: 'user/:user/rooms/:room/account_data/:type', signed: read },
    { method: 'PUT', path: 'user/:user/rooms/:room/account_data/:type', signed: write },
  ];
}

function login({ world, body }: Call): JsonObject {
  if (body.type !== 'm.login.password') throw badRequest('M_INVALID_PARAM', 'Invalid login submission');
  const identifier = objectField(body, 'identifier');
  const given = textField(identifier, 'user') ?? textField(body, 'user');
  const password = textField(body, 'password');
  if (given === undefined || password === undefined) throw badRequest('M_BAD_JSON', 'User and password are needed');
  const account = world.accounts.get(given.startsWith('@') ? given : `@${given}:${world.settings.serverName}`);
  if (account?.password !== password) throw forbidden('Invalid username or password');
  const { device, accessToken } = world.openSession(account, textField(body, 'device_id'));
  return {
    user_id: account.userId,
    access_token: accessToken,
    device_id: device.id,
    home_server: world.settings.serverName,
  };
}

function whoami({ account, device }: SignedCall): JsonObject {
  return { user_id: account.userId, device_id: device.id, is_guest: false };
}

function logout({ world, account, device }: SignedCall): JsonObject {
  world.removeDevice(account, device.id);
  return {};
}

const VERSIONS = ['r0.6.1', 'v1.1', 'v1.2', 'v1.3', 'v1.4', 'v1.5', 'v1.6', 'v1.7', 'v1.8', 'v1.9', 'v1.10', 'v1.11'];

const DUMMY = 'm.login.dummy';
const TOKEN = 'm.login.registration_token';

function register({ world, body }: Call, steps: Map<string, Set<string>>): Answer | JsonObject {
  const name = textField(body, 'username')?.toLowerCase() ?? `u${randomHex(5)}`;
  const userId = freeUserId(world, name);
  const open = nextStep(world, body, steps);
  if (open) return open;
  const account = world.addAccount(userId, neededText(body, 'password'));
  if (body.inhibit_login === true) return { user_id: userId, home_server: world.settings.serverName };
  const { device, accessToken } = world.openSession(account, textField(body, 'device_id'));
  return { user_id: userId, access_token: accessToken, device_id: device.id, home_server: world.settings.serverName };
}

function freeUserId(world: World, name: string): string {
  if (!/^[a-z0-9._=\-/+]+$/.test(name)) {
    throw badRequest('M_INVALID_USERNAME', "User ID can only contain characters a-z, 0-9, or '=_-./+'");
  }
  const userId = `@${name}:${world.settings.serverName}`;
  if (world.accounts.has(userId)) throw badRequest('M_USER_IN_USE', 'User ID already taken.');
  return userId;
}

/** What is still to be done, or undefined when the flow is complete. */
function nextStep(world: World, body: JsonObject, steps: Map<string, Set<string>>): Answer | undefined {
  const { registrationToken, strict } = world.settings;
  // Continuwuity asks for the token only, Synapse for a dummy step after it.
  const flow = registrationToken === undefined ? [DUMMY] : strict ? [TOKEN] : [TOKEN, DUMMY];
  const auth = isJsonObject(body.auth) ? body.auth : {};
  const session = textField(auth, 'session') ?? randomHex(12);
  const done = steps.get(session) ?? new Set<string>();
  steps.set(session, done);
  const asked = { flows: [{ stages: flow }], params: {}, session, ...(done.size > 0 && { completed: [...done] }) };
  const type = textField(auth, 'type');
  if (type === undefined) return new Answer(401, asked);
  if (!flow.includes(type)) throw badRequest('M_INVALID_PARAM', 'Invalid login submission');
  if (type === TOKEN && auth.token !== registrationToken) {
    return new Answer(401, { ...asked, errcode: 'M_UNAUTHORIZED', error: 'Invalid registration token' });
  }
  done.add(type);
  if (flow.some((stage) => !done.has(stage))) return new Answer(401, { ...asked, completed: [...done] });
  steps.delete(session);
  return undefined;
}

function read(call: SignedCall): JsonObject {
  const { account, path } = call;
  checkOwn(call, 'Cannot get account data for other users.');
  const data = path.room === undefined ? account.data : account.roomData.get(checkedRoom(path.room));
  const item = data?.get(path.type ?? '');
  if (!item) throw notFound(path.room === undefined ? 'Account data not found' : 'Room account data not found');
  return item.content;
}

function write(call: SignedCall): JsonObject {
  const { world, account, path, body } = call;
  checkOwn(call, 'Cannot add account data for other users.');
  world.putData(account, path.type ?? '', body, path.room === undefined ? undefined : checkedRoom(path.room));
  return {};
}

function checkedRoom(roomId: string): string {
  if (!/^!./.test(roomId)) throw badRequest('M_INVALID_PARAM', `${roomId} is not a valid room ID`);
  return roomId;
}

function checkOwn({ account, path }: SignedCall, message: string): void {
  if (path.user !== account.userId) throw forbidden(message);
}

export const keyRoutes: readonly Route[] = [
  {
    method: 'PUT',
    path: 'sendToDevice/:type/:txn',
    signed: (call) => once(call, `toDevice ${call.path.type} ${call.path.txn}`, () => deliver(call)),
  },
  { method: 'POST', path: 'keys/upload', signed: upload },
  { method: 'POST', path: 'keys/query', signed: query },
  { method: 'POST', path: 'keys/claim', signed: claim },
];

function upload({ world, account, device, body }: SignedCall): JsonObject {
  const oneTime = objectField(body, 'one_time_keys');
  for (const [id, key] of Object.entries(oneTime)) checkNew(device, id, key);
  if (isJsonObject(body.device_keys) && storeIdentity(device, body.device_keys)) world.noteDevices(account);
  for (const [id, key] of Object.entries(oneTime)) if (key !== undefined) device.oneTimeKeys.set(id, key);
  for (const [id, key] of Object.entries(objectField(body, 'fallback_keys'))) {
    if (key !== undefined) device.fallbackKeys.set(algorithmOf(id), { id, key, used: false });
  }
  world.wake();
  const counts: Record<string, number> = { signed_curve25519: 0 };
  for (const id of device.oneTimeKeys.keys()) counts[algorithmOf(id)] = (counts[algorithmOf(id)] ?? 0) + 1;
  return { one_time_key_counts: counts };
}

function checkNew(device: Device, id: string, key: JsonValue | undefined): void {
  if (!/^[^:]+:.+$/.test(id)) throw badRequest('M_BAD_JSON', `Invalid one_time_keys key '${id}'`);
  const known = device.oneTimeKeys.get(id);
  if (known === undefined || canonicalJson(known) === canonicalJson(key)) return;
  throw badRequest(
    'M_UNKNOWN',
    `One time key ${id} already exists. Old key: ${canonicalJson(known)}; new key: ${canonicalJson(key)}`,
  );
}

/** True: they are other ones than before. */
function storeIdentity(device: Device, keys: JsonObject): boolean {
  const own: JsonObject = { user_id: device.userId, device_id: device.id };
  for (const field of ['user_id', 'device_id']) {
    if (keys[field] === own[field]) continue;
    throw badRequest(
      'M_BAD_JSON',
      `Provided \`${field}\` in \`device_keys\` does not match that of the authenticated device`,
    );
  }
  const isNew = canonicalJson(device.keys) !== canonicalJson(keys);
  device.keys = keys;
  return isNew;
}

function query({ world, body }: SignedCall): JsonObject {
  if (body.device_keys === undefined) throw badRequest('M_BAD_JSON', "'device_keys' must be a JSON object");
  const wanted = Object.entries(objectField(body, 'device_keys'));
  const found = wanted.flatMap(([id, devices]) => {
    const other = world.accounts.get(id);
    if (!Array.isArray(devices)) throw badRequest('M_BAD_JSON', "'device_keys' values must be a list of strings");
    return other ? [{ other, devices }] : [];
  });
  const nobody = wanted.filter(([id]) => world.isLocal(id) && !world.accounts.has(id)).map(([id]) => [id, {}] as const);
  return {
    device_keys: Object.fromEntries([
      ...nobody,
      ...found.map(({ other, devices }) => [other.userId, identities(other, devices)] as const),
    ]),
    failures: {},
  };
}

function identities(account: Account, wanted: readonly JsonValue[]): JsonObject {
  const shown = [...account.devices.values()].filter(({ id }) => wanted.length === 0 || wanted.includes(id));
  return Object.fromEntries(shown.flatMap(({ id, keys }) => (keys ? [[id, { ...keys, unsigned: {} }]] : [])));
}

function claim({ world, body }: SignedCall): JsonObject {
  const answer: Record<string, Record<string, JsonObject>> = {};
  for (const [userId, devices] of Object.entries(objectField(body, 'one_time_keys'))) {
    if (!isJsonObject(devices)) continue;
    for (const [deviceId, algorithm] of Object.entries(devices)) {
      const device = world.accounts.get(userId)?.devices.get(deviceId);
      const key = device && take(device, String(algorithm));
      if (!key) continue;
      answer[userId] ??= {};
      answer[userId][deviceId] = key;
    }
  }
  world.wake();
  return { one_time_keys: answer, failures: {} };
}

function take(device: Device, algorithm: string): JsonObject | undefined {
  for (const [id, key] of device.oneTimeKeys) {
    if (algorithmOf(id) !== algorithm) continue;
    device.oneTimeKeys.delete(id);
    return { [id]: key };
  }
  const fallback = device.fallbackKeys.get(algorithm);
  if (!fallback) return undefined;
  fallback.used = true;
  return { [fallback.id]: fallback.key };
}

function algorithmOf(id: string): string {
  return id.split(':')[0] ?? id;
}

function deliver(call: SignedCall): JsonObject {
  const { world, account, path, body } = call;
  if (body.messages === undefined) throw badRequest('M_MISSING_PARAM', "Missing params: ['messages']");
  const position = world.advance();
  for (const [userId, devices] of Object.entries(objectField(body, 'messages'))) {
    const receiver = world.accounts.get(userId);
    if (!receiver || !isJsonObject(devices)) continue;
    for (const [deviceId, content] of Object.entries(devices)) {
      const message = { type: path.type ?? '', sender: account.userId, content: content ?? {} };
      for (const device of meant(receiver, deviceId)) device.inbox.push({ position, message });
    }
  }
  world.wake();
  return {};
}

function meant(receiver: Account, deviceId: string): readonly Device[] {
  if (deviceId === '*') return [...receiver.devices.values()];
  const device = receiver.devices.get(deviceId);
  return device ? [device] : [];
}
