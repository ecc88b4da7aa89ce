// Owns becoming somebody on a server: signing in with a password or making an account (client-server API, authentication; stages that need no
// person), as the same device as before, and keeping it: the token in .env, the rest in config.yaml. Invariants: what is kept was confirmed
// by the server, whole or not at all; no error holds a password or token; at no moment would the token of one server go to another.

import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { PROVIDER_NAME } from '../hive-account.ts';
import type { HiveGround, HiveSettings } from '../hive-ground.ts';
import { PeerError } from '../peers/peer-error.ts';
import { type AskServer, isUser, type ServerReply, serverRefusal, type TypedUser } from './find-server.ts';
import { shownLine } from './with-peers.ts';

export interface SignedIn {
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
export async function signIn(
  { url, user, password, deviceId }: SignIn,
  ask: AskServer,
  signal: AbortSignal,
): Promise<SignedIn> {
  await mustTakePasswords(url, ask, signal);
  const reply = await ask(
    {
      method: 'POST',
      url: `${url}/_matrix/client/v3/login`,
      body: {
        type: 'm.login.password',
        identifier: { type: 'm.id.user', user },
        password,
        initial_device_display_name: DEVICE_NAME,
        ...(deviceId === undefined ? {} : { device_id: deviceId }),
      },
    },
    signal,
  );
  if (reply.status !== 200) throw serverRefusal(reply, { url, doing: `sign ${user} in` });
  return confirmed(tokenOf(reply, url), { url, ask }, signal);
}

/** A server without passwords would only say that the request is unknown. */
async function mustTakePasswords(url: string, ask: AskServer, signal: AbortSignal): Promise<void> {
  const { status, body } = await ask({ method: 'GET', url: `${url}/_matrix/client/v3/login` }, signal);
  const flows = status === 200 && Array.isArray(body.flows) ? body.flows : undefined;
  if (flows === undefined || JSON.stringify(flows).includes('"m.login.password"')) return;
  throw new PeerError(`${url} takes no passwords`, {
    code: 'peers-forbidden',
    fix: 'Sign in with another client, and put its access token into .env and memory.env by hand (docs/guide/peers.md).',
  });
}

function tokenOf({ status, body }: ServerReply, url: string): string {
  if (typeof body.access_token === 'string' && /^[\x21-\x7e]+$/.test(body.access_token)) return body.access_token;
  throw new PeerError(`${url} gave no access token`, { code: 'peers-bad-response', status, fix: 'Try again.' });
}

/** Asks the server whose token it is. Signs out again when it does not say. */
async function confirmed(
  accessToken: string,
  { url, ask }: { readonly url: string; readonly ask: AskServer },
  signal: AbortSignal,
): Promise<SignedIn> {
  const reply = await ask(
    { method: 'GET', url: `${url}/_matrix/client/v3/account/whoami`, token: accessToken },
    signal,
  );
  const { user_id: userId, device_id: deviceId } = reply.body;
  if (reply.status === 200 && typeof userId === 'string' && /^@[^:\s]+:\S+$/.test(userId))
    return { userId, accessToken, deviceId: typeof deviceId === 'string' ? deviceId : '' };
  await signOut({ url, accessToken }, ask, signal);
  throw serverRefusal(reply, { url, doing: 'confirm the new sign-in' });
}

/** So that no sign-in is left behind that nobody keeps. Says nothing when it fails: the token is thrown away in any case. */
export async function signOut(
  { url, accessToken }: { readonly url: string; readonly accessToken: string },
  ask: AskServer,
  signal: AbortSignal,
): Promise<void> {
  const call = { method: 'POST', url: `${url}/_matrix/client/v3/logout`, token: accessToken } as const;
  await ask(call, signal).catch(() => undefined);
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
export async function register(registration: Registration, ask: AskServer, signal: AbortSignal): Promise<SignedIn> {
  const { url, name, password } = registration;
  const address = `${url}/_matrix/client/v3/register`;
  const account = { username: name, password, initial_device_display_name: DEVICE_NAME, inhibit_login: false };
  const send = (auth: JsonObject | undefined) =>
    ask({ method: 'POST', url: address, body: { ...account, ...(auth ? { auth } : {}) } }, signal);
  let reply = await send(undefined);
  for (let stages = 0; isAsking(reply) && stages < MOST_STAGES; stages += 1)
    reply = await send(nextStage(reply.body, registration));
  if (reply.status === 200) return confirmed(tokenOf(reply, url), { url, ask }, signal);
  throw serverRefusal(reply, { url, doing: `make the account ${name}`, registers: true });
}

/** 401 with ways to go on; with an `errcode` a stage was refused. */
function isAsking({ status, body }: ServerReply): boolean {
  return status === 401 && Array.isArray(body.flows) && body.errcode === undefined;
}

function nextStage(body: JsonObject, { url, token }: Registration): JsonObject {
  const flows = Array.isArray(body.flows) ? body.flows.map(stagesOf) : [];
  const done = new Set(stringsOf(body.completed));
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
  return isJsonObject(flow) ? stringsOf(flow.stages) : [];
}

function stringsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Undefined when there is none, it is somebody else's, or the server does not know it any more. */
export async function presentDevice(
  {
    url,
    user,
    env,
  }: { readonly url: string; readonly user: TypedUser; readonly env: Readonly<Record<string, string>> },
  ask: AskServer,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { MATRIX_HOMESERVER: at = '', MATRIX_ACCESS_TOKEN: token = '', MATRIX_USER_ID: present = '' } = env;
  if (token === '' || at.replace(/\/+$/, '') !== url || !isUser(user, present)) return undefined;
  try {
    const question = { method: 'GET', url: `${url}/_matrix/client/v3/account/whoami`, token } as const;
    const { status, body } = await ask(question, signal);
    return status === 200 && body.user_id === present && typeof body.device_id === 'string'
      ? body.device_id
      : undefined;
  } catch (error) {
    if (error instanceof PeerError) return undefined;
    throw error;
  }
}

const TOKEN_NAME = 'MATRIX_ACCESS_TOKEN';
/** Variables that hold the token in turn: a sign-in elsewhere takes the other one, so that old settings go on naming the old token. */
const HOLDERS = [TOKEN_NAME, `${TOKEN_NAME}_2`] as const;

/** Sentences, each about one thing that would be no more; none when the same user signs in again. */
export function replacedBy(user: TypedUser, url: string, { provider, env }: HiveSettings): readonly string[] {
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

function serverOf(env: HiveSettings['env']): string {
  return (env.MATRIX_HOMESERVER ?? '').replace(/\/+$/, '');
}

export async function keepSignIn(ground: HiveGround, url: string, { userId, accessToken }: SignedIn): Promise<void> {
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
