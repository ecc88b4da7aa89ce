// Owns registration with its interactive steps, and the server's first words (versions, well-known, capabilities).
// Invariant: an account comes to be only after every step of a flow was taken in one session.
import { randomHex } from '#base/ids.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { ROOM_VERSIONS } from '../rooms/create-room.ts';
import type { World } from '../store/world.ts';
import { Answer, type Call, type Route } from '../wire/call.ts';
import { badRequest } from '../wire/matrix-failure.ts';
import { neededText, textField } from './fields.ts';

const VERSIONS = ['r0.6.1', 'v1.1', 'v1.2', 'v1.3', 'v1.4', 'v1.5', 'v1.6', 'v1.7', 'v1.8', 'v1.9', 'v1.10', 'v1.11'];

const DUMMY = 'm.login.dummy';
const TOKEN = 'm.login.registration_token';

export function signUpRoutes(baseUrl: () => string): readonly Route[] {
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
    { method: 'GET', path: 'capabilities', signed: ({ world }) => capabilities(world) },
    { method: 'GET', path: 'register/available', open: ({ world, query }) => available(world, query.username ?? '') },
    { method: 'POST', path: 'register', open: (call) => register(call, steps) },
  ];
}

function capabilities({ settings }: World): JsonObject {
  const stable = Object.fromEntries(ROOM_VERSIONS.map((version) => [version, 'stable']));
  return { capabilities: { 'm.room_versions': { default: settings.roomVersion, available: stable } } };
}

function available(world: World, name: string): JsonObject {
  freeUserId(world, name);
  return { available: true };
}

function register({ world, body }: Call, steps: Map<string, Set<string>>): Answer | JsonObject {
  const name = textField(body, 'username')?.toLowerCase() ?? `u${randomHex(5)}`;
  const userId = freeUserId(world, name);
  const open = nextStep(world, body, steps);
  if (open) return open;
  const account = world.addAccount(userId, neededText(body, 'password'));
  if (body.inhibit_login === true) return { user_id: userId, home_server: world.settings.serverName };
  const { device, accessToken } = world.openSession(account, textField(body, 'device_id'));
  device.displayName = textField(body, 'initial_device_display_name');
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
