// Owns finding the device of the sign-in that is there: the same user goes on as the same device, so that its keys still fit. Changes nothing.
import { PeerError } from '../../peers/peer-error.ts';
import type { AskServer } from './ask-server.ts';
import { isUser, type TypedUser } from './read-user.ts';

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
