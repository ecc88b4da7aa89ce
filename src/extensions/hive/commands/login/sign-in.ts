// Owns signing in with a password, checking whom a token belongs to, and signing out again (client-server API, authentication).
// Invariant: what comes back was confirmed by the server; no error holds a password or token.
import { PeerError } from '../../peers/peer-error.ts';
import type { AskServer, ServerReply } from './ask-server.ts';
import { serverRefusal } from './server-refusal.ts';

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

export const DEVICE_NAME = 'Talaria';

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

export function tokenOf({ status, body }: ServerReply, url: string): string {
  if (typeof body.access_token === 'string' && /^[\x21-\x7e]+$/.test(body.access_token)) return body.access_token;
  throw new PeerError(`${url} gave no access token`, { code: 'peers-bad-response', status, fix: 'Try again.' });
}

/** Asks the server whose token it is. Signs out again when it does not say. */
export async function confirmed(
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
