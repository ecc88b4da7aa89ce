// Owns signing in and out, whoami, and the list of one's devices.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Account, Device } from '../store/account.ts';
import type { World } from '../store/world.ts';
import { Answer, type Call, type Route, type SignedCall } from '../wire/call.ts';
import { badRequest, forbidden, notFound } from '../wire/matrix-failure.ts';
import { objectField, textField, textList } from './fields.ts';

export const signInRoutes: readonly Route[] = [
  { method: 'GET', path: 'login', open: () => ({ flows: [{ type: 'm.login.password' }] }) },
  { method: 'POST', path: 'login', open: login },
  { method: 'POST', path: 'logout', emptyBody: true, signed: logout },
  { method: 'POST', path: 'logout/all', emptyBody: true, signed: logoutAll },
  { method: 'GET', path: 'account/whoami', signed: whoami },
  { method: 'GET', path: 'devices', signed: ({ account }) => ({ devices: [...account.devices.values()].map(shown) }) },
  { method: 'GET', path: 'devices/:device', signed: (call) => shown(ownDevice(call)) },
  { method: 'PUT', path: 'devices/:device', signed: rename },
  { method: 'DELETE', path: 'devices/:device', signed: removeOne },
  { method: 'POST', path: 'delete_devices', signed: removeMany },
];

function login({ world, body }: Call): JsonObject {
  if (body.type !== 'm.login.password') throw badRequest('M_INVALID_PARAM', 'Invalid login submission');
  const identifier = objectField(body, 'identifier');
  const given = textField(identifier, 'user') ?? textField(body, 'user');
  const password = textField(body, 'password');
  if (given === undefined || password === undefined) throw badRequest('M_BAD_JSON', 'User and password are needed');
  const account = world.accounts.get(given.startsWith('@') ? given : `@${given}:${world.settings.serverName}`);
  if (account?.password !== password) throw forbidden('Invalid username or password');
  const { device, accessToken } = world.openSession(account, textField(body, 'device_id'));
  device.displayName = textField(body, 'initial_device_display_name') ?? device.displayName;
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

function logoutAll({ world, account }: SignedCall): JsonObject {
  for (const id of [...account.devices.keys()]) world.removeDevice(account, id);
  return {};
}

function shown(device: Device): JsonObject {
  return { device_id: device.id, display_name: device.displayName ?? null, user_id: device.userId };
}

function ownDevice({ account, path }: SignedCall): Device {
  const device = account.devices.get(path.device ?? '');
  if (!device) throw notFound('No device found');
  return device;
}

function rename(call: SignedCall): JsonObject {
  ownDevice(call).displayName = textField(call.body, 'display_name');
  call.world.noteDevices(call.account);
  return {};
}

function removeOne(call: SignedCall): Answer | JsonObject {
  return askPassword(call) ?? remove(call.world, call.account, [call.path.device ?? '']);
}

function removeMany(call: SignedCall): Answer | JsonObject {
  return askPassword(call) ?? remove(call.world, call.account, textList(call.body, 'devices'));
}

function remove(world: World, account: Account, ids: readonly string[]): JsonObject {
  for (const id of ids) world.removeDevice(account, id);
  return {};
}

/** The interactive step before something dangerous: undefined once the right password is there. */
export function askPassword({ account, body }: SignedCall): Answer | undefined {
  const auth = isJsonObject(body.auth) ? body.auth : undefined;
  const asked = { flows: [{ stages: ['m.login.password'] }], params: {}, session: 'password' };
  if (auth?.type !== 'm.login.password') return new Answer(401, asked);
  if (auth.password === account.password) return undefined;
  return new Answer(401, { ...asked, errcode: 'M_FORBIDDEN', error: 'Invalid password' });
}
