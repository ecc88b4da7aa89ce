// Owns what a sign-in replaces, and keeping it: the token in .env, the rest in config.yaml. Invariants: kept whole or not at all, and only
// what the server confirmed; at no moment would the token of one server go to another.
import { PROVIDER_NAME } from '../../hive-account.ts';
import type { HiveGround, HiveSettings } from '../../hive-ground.ts';
import { shownLine } from '../shown-text.ts';
import { isUser, type TypedUser } from './read-user.ts';
import type { SignedIn } from './sign-in.ts';

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
