// Owns `peers login`: what is typed, what is asked, what is said; becoming somebody on a server: signing in with a password or making an account
// (client-server API, authentication; stages that need no person), as the same device as before; and keeping it: the token in .env, the rest in
// config.yaml. Invariants: what is kept was confirmed by the server, whole or not at all; a password is neither shown nor kept, and no error
// holds one, or a token; what a sign-in replaces is agreed to before; at no moment would the token of one server go to another.

import { z } from 'zod';
import { TalariaError } from '#base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, textsOf } from '#base/json.ts';
import { ok } from '#base/result.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  defineCommand,
  type Failure,
  failed,
  line,
  refused,
  wrongUse,
} from '#core/agent/command-spec.ts';
import type { Ground, Settings } from '#core/agent/room.ts';
import { PeerError } from '../peer.ts';
import { PROVIDER_NAME } from '../settings.ts';
import {
  type AskServer,
  createAskServer,
  findServer,
  isUser,
  readUser,
  type ServerReply,
  serverRefusal,
  type TypedUser,
} from './find-server.ts';
import { agreed, peerFailure, shownLine } from './with-peers.ts';

const input = z.object({
  url: z.string('type the address of a server').describe('Address or name of a Matrix server'),
  user: z.string('type a user').describe('@name:server, or the name alone'),
  register: z.boolean().default(false).describe('Make the account first'),
  yes: z.boolean().default(false).describe('Replace another sign-in without asking'),
});

type Asked = z.infer<typeof input>;

export function loginCommand(ground: Ground): AnyCommand {
  return defineCommand<Asked>({
    name: 'peers login',
    summary: 'Sign in to the server over which peers are reached',
    surfaces: ['cli'],
    input: input as z.ZodType<Asked>,
    positional: ['url', 'user'],
    examples: [
      'talaria peers login https://matrix.example.org hermes-of-alice',
      'talaria peers login example.org @hermes-of-alice:example.org --register',
      'MATRIX_PASSWORD=… talaria peers login http://127.0.0.1:8008 hermes-of-alice',
    ],
    run: (asked, context) => run({ ground, asked, context, ask: createAskServer(ground.clock, context.signal) }),
  });
}

interface Login {
  readonly ground: Ground;
  readonly asked: Asked;
  readonly context: CommandContext;
  readonly ask: AskServer;
}

async function* run(login: Login): AsyncGenerator<CommandOutput> {
  try {
    yield* signedInAndKept(login);
  } catch (error) {
    if (error instanceof PeerError) {
      const failure = peerFailure(error);
      yield { ...failure, fix: `${failure.fix} Nothing was changed.`.trim() };
    } else if (error instanceof TalariaError && error.code !== 'aborted')
      yield failed(error.code, error.message, error.fix ?? 'Nothing was changed.');
    else throw error;
  }
}

async function* signedInAndKept(login: Login): AsyncGenerator<CommandOutput> {
  const { ground, asked, context, ask } = login;
  const user = readUser(asked.user);
  if (!user.ok) return yield wrongUse(user.reason, user.detail, 'Type @name:server, or the name alone.');
  const server = await findServer(asked.url, ask);
  if (!server.ok)
    return yield wrongUse(server.reason, server.detail, 'Type https://HOST, or http://HOST in a private network.');
  const { url, isOpen } = server.value;
  yield line(`server ${url}`);
  if (isOpen) yield line('note: http is not encrypted; fit for this machine or a network of your own.');
  const settings = await ground.settings();
  const replaced = replacedBy(user.value, url, settings);
  yield* replaced.map(line);
  const consent = replaced.length === 0 ? ok(true) : await agreed(context, asked.yes, 'Replace it?');
  if (!consent.ok) return yield refused(consent.reason, consent.detail, 'Nothing was changed.');
  const password = await passwordOf(login, user.value);
  if (typeof password !== 'string') return yield password;
  const entered = await enter(login, user.value, url, password);
  try {
    await keepSignIn(ground, url, entered);
  } catch (error) {
    // What cannot be kept is signed out again.
    await signOut(url, entered.accessToken, ask);
    throw error;
  }
  yield* said(ground, url, entered);
}

async function passwordOf({ ground, asked, context }: Login, { name }: TypedUser): Promise<string | Failure> {
  const given = ground.variables.MATRIX_PASSWORD ?? '';
  if (given !== '') return given;
  const value = (await context.ask?.(`Password of ${shownLine(name, 60)}:`, 'secret')) ?? '';
  if (value === '') {
    const fix = 'Type it when asked, or set MATRIX_PASSWORD for this one command. Nothing was changed.';
    return refused('password-missing', 'there is no password', fix);
  }
  if (asked.register && (await context.ask?.('The same again:', 'secret')) !== value)
    return wrongUse('password-differs', 'the two are not the same', 'Nothing was changed.');
  return value;
}

/** Throws PeerError; a sign-in as somebody else than was typed is taken back. */
async function enter(login: Login, user: TypedUser, url: string, password: string): Promise<SignedIn> {
  const { ground, asked, ask } = login;
  const token = ground.variables.MATRIX_REGISTRATION_TOKEN ?? '';
  const entered = asked.register
    ? await register({ url, name: user.name, password, ...(token === '' ? {} : { token }) }, ask)
    : await signInAgain(login, user, url, password);
  if (isUser(user, entered.userId)) return entered;
  await signOut(url, entered.accessToken, ask);
  throw new PeerError(`${url} signed in ${shownLine(entered.userId, 200)}, which is not whom you named`, {
    code: 'peers-bad-response',
    fix: 'Check the server, and the user.',
  });
}

async function signInAgain({ ground, ask }: Login, user: TypedUser, url: string, password: string): Promise<SignedIn> {
  const { env } = await ground.settings();
  const deviceId = await presentDevice(user, url, env, ask);
  const name = user.server === undefined ? user.name : `@${user.name}:${user.server}`;
  return signIn({ url, user: name, password, ...(deviceId === undefined ? {} : { deviceId }) }, ask);
}

function* said({ places }: Ground, url: string, { userId, deviceId }: SignedIn): Generator<CommandOutput> {
  const device = deviceId === '' ? '' : ` (device ${shownLine(deviceId, 60)})`;
  yield line(`signed in as ${shownLine(userId, 200)}${device}`);
  yield line(`kept: the token in .env beside ${places.config}, the rest in it (memory.provider, memory.env)`);
  yield line('Next: `talaria peers doctor` looks at everything; `talaria peers list` shows whom you know.');
  yield { type: 'data', value: { homeserver: url, user_id: userId, device_id: deviceId, config: places.config } };
}

interface SignedIn {
  /** `@name:server` */
  readonly userId: string;
  readonly accessToken: string;
  readonly deviceId: string;
}

export interface SignIn {
  /** Of the server. */
  readonly url: string;
  /** `@name:server` or `name`. */
  readonly user: string;
  readonly password: string;
  /** The device goes on, so that its keys fit. */
  readonly deviceId?: string;
}

const DEVICE_NAME = 'Talaria';

/** Throws PeerError. */
export async function signIn({ url, user, password, deviceId }: SignIn, ask: AskServer): Promise<SignedIn> {
  await mustTakePasswords(url, ask);
  const body = {
    type: 'm.login.password',
    identifier: { type: 'm.id.user', user },
    password,
    initial_device_display_name: DEVICE_NAME,
    ...(deviceId === undefined ? {} : { device_id: deviceId }),
  };
  const reply = await ask({ method: 'POST', url: `${url}/_matrix/client/v3/login`, body });
  if (reply.status !== 200) throw serverRefusal(reply, url, `sign ${user} in`);
  return confirmed(reply, url, ask);
}

/** A server without passwords would only say that the request is unknown. */
async function mustTakePasswords(url: string, ask: AskServer): Promise<void> {
  const { status, body } = await ask({ method: 'GET', url: `${url}/_matrix/client/v3/login` });
  const flows = status === 200 && Array.isArray(body.flows) ? body.flows : undefined;
  if (flows === undefined || JSON.stringify(flows).includes('"m.login.password"')) return;
  throw new PeerError(`${url} takes no passwords`, {
    code: 'peers-forbidden',
    fix: 'Sign in with another client, and put its access token into .env and memory.env by hand (docs/guide/peers.md).',
  });
}

/** Asks the server whose token it gave. Signs out again when it does not say. */
async function confirmed({ status, body }: ServerReply, url: string, ask: AskServer): Promise<SignedIn> {
  const accessToken = body.access_token;
  if (typeof accessToken !== 'string' || !/^[\x21-\x7e]+$/.test(accessToken))
    throw new PeerError(`${url} gave no access token`, { code: 'peers-bad-response', status, fix: 'Try again.' });
  const reply = await whoAmI(url, accessToken, ask);
  const { user_id: userId, device_id: deviceId } = reply.body;
  if (reply.status === 200 && typeof userId === 'string' && /^@[^:\s]+:\S+$/.test(userId))
    return { userId, accessToken, deviceId: typeof deviceId === 'string' ? deviceId : '' };
  await signOut(url, accessToken, ask);
  throw serverRefusal(reply, url, 'confirm the new sign-in');
}

function whoAmI(url: string, token: string, ask: AskServer): Promise<ServerReply> {
  return ask({ method: 'GET', url: `${url}/_matrix/client/v3/account/whoami`, token });
}

/** So that no sign-in is left behind that nobody keeps. Says nothing when it fails: the token is thrown away in any case. */
async function signOut(url: string, token: string, ask: AskServer): Promise<void> {
  await ask({ method: 'POST', url: `${url}/_matrix/client/v3/logout`, token }).catch(() => undefined);
}

export interface Registration {
  /** Of the server. */
  readonly url: string;
  readonly name: string;
  readonly password: string;
  /** MATRIX_REGISTRATION_TOKEN */
  readonly token?: string;
}

const MOST_STAGES = 4;

/** Throws PeerError. */
export async function register(registration: Registration, ask: AskServer): Promise<SignedIn> {
  const { url, name, password } = registration;
  const address = `${url}/_matrix/client/v3/register`;
  const account = { username: name, password, initial_device_display_name: DEVICE_NAME, inhibit_login: false };
  const send = (auth: JsonObject | undefined) =>
    ask({ method: 'POST', url: address, body: { ...account, ...(auth ? { auth } : {}) } });
  let reply = await send(undefined);
  for (let stages = 0; isAsking(reply) && stages < MOST_STAGES; stages += 1)
    reply = await send(nextStage(reply.body, registration));
  if (reply.status === 200) return confirmed(reply, url, ask);
  throw serverRefusal(reply, url, `make the account ${name}`, true);
}

/** 401 with ways to go on; with an `errcode` a stage was refused. */
function isAsking({ status, body }: ServerReply): boolean {
  return status === 401 && Array.isArray(body.flows) && body.errcode === undefined;
}

function nextStage(body: JsonObject, { url, token }: Registration): JsonObject {
  const flows = Array.isArray(body.flows) ? body.flows.map(stagesOf) : [];
  const done = new Set(textsOf(body.completed));
  const session = typeof body.session === 'string' ? { session: body.session } : {};
  const way = flows.find((stages) => stages.every((stage) => isOurs(stage, token)));
  const stage = way?.find((name) => !done.has(name));
  if (stage === 'm.login.registration_token') return { type: stage, token: token ?? '', ...session };
  if (stage !== undefined) return { type: stage, ...session };
  throw cannotRegister(url, flows, token);
}

function isOurs(stage: string, token: string | undefined): boolean {
  return stage === 'm.login.dummy' || (stage === 'm.login.registration_token' && token !== undefined);
}

function cannotRegister(url: string, flows: readonly (readonly string[])[], token: string | undefined): PeerError {
  const wantsToken = token === undefined && flows.some((stages) => stages.every((stage) => isOurs(stage, '')));
  return new PeerError(
    wantsToken ? `${url} asks for a registration token` : `${url} makes accounts only with steps that need a browser`,
    {
      code: 'peers-forbidden',
      fix: wantsToken
        ? 'Ask whoever runs the server for one, and set MATRIX_REGISTRATION_TOKEN.'
        : 'Make the account there, then sign in without --register.',
    },
  );
}

function stagesOf(flow: JsonValue): readonly string[] {
  return isJsonObject(flow) ? textsOf(flow.stages) : [];
}

/** Undefined when there is none, it is somebody else's, or the server does not know it any more. */
async function presentDevice(
  user: TypedUser,
  url: string,
  env: Settings['env'],
  ask: AskServer,
): Promise<string | undefined> {
  const { MATRIX_ACCESS_TOKEN: token = '', MATRIX_USER_ID: present = '' } = env;
  if (token === '' || serverOf(env) !== url || !isUser(user, present)) return undefined;
  try {
    const { status, body } = await whoAmI(url, token, ask);
    const isOurs = status === 200 && body.user_id === present && typeof body.device_id === 'string';
    return isOurs ? String(body.device_id) : undefined;
  } catch (error) {
    if (error instanceof PeerError) return undefined;
    throw error;
  }
}

const TOKEN_NAME = 'MATRIX_ACCESS_TOKEN';
/** Variables that hold the token in turn: a sign-in elsewhere takes the other one, so that old settings go on naming the old token. */
const HOLDERS = [TOKEN_NAME, `${TOKEN_NAME}_2`] as const;

/** Sentences, each about one thing that would be no more; none when the same user signs in again. */
function replacedBy(user: TypedUser, url: string, { provider, env }: Settings): readonly string[] {
  const replaced: string[] = [];
  if (provider !== '' && provider !== PROVIDER_NAME)
    replaced.push(`memory.provider is ${shownLine(provider, 60)}; it will be ${PROVIDER_NAME}.`);
  const present = env.MATRIX_USER_ID ?? '';
  const at = serverOf(env);
  const isSame = isUser(user, present) && (user.server !== undefined || at === url);
  if (present !== '' && !isSame)
    replaced.push(
      `This home is signed in as ${shownLine(present, 200)} at ${shownLine(at, 200)}. Its peers and suggestions stay there and are not shown any more.`,
    );
  return replaced;
}

function serverOf(env: Settings['env']): string {
  return (env.MATRIX_HOMESERVER ?? '').replace(/\/+$/, '');
}

async function keepSignIn(ground: Ground, url: string, { userId, accessToken }: SignedIn): Promise<void> {
  const memory = (key: string, value: string) => ({ path: ['memory', ...key.split('.')], value });
  const { env } = await ground.settings();
  const { variables } = ground;
  const present = HOLDERS.find((name) => variables[name] !== undefined && variables[name] === env[TOKEN_NAME]);
  const isMoved = present !== undefined && (serverOf(env) !== url || env.MATRIX_USER_ID !== userId);
  const holder = isMoved ? (HOLDERS.find((name) => name !== present) ?? TOKEN_NAME) : (present ?? TOKEN_NAME);
  await ground.keep({
    config: [
      memory('provider', PROVIDER_NAME),
      memory('env.MATRIX_HOMESERVER', url),
      memory('env.MATRIX_USER_ID', userId),
      memory(`env.${TOKEN_NAME}`, `\${${holder}}`),
    ],
    secrets: { [holder]: accessToken, ...(isMoved ? { [present]: undefined } : {}) },
  });
}
