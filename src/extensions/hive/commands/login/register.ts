// Owns making an account: the user-interactive stages that need no person (client-server API, m.login.dummy and m.login.registration_token).
// Invariant: no error holds a password or token.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { PeerError } from '../../peers/peer-error.ts';
import type { AskServer, ServerReply } from './ask-server.ts';
import { serverRefusal } from './server-refusal.ts';
import { confirmed, DEVICE_NAME, type SignedIn, tokenOf } from './sign-in.ts';

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
