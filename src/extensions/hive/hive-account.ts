// Owns reading the account out of `memory.env` (seed 004, layer 2): which of the three variables is missing or cannot be meant, and what
// mends it. Pure. Invariant: no message holds the token.
import { ok, type Result, refuse } from '#base/result.ts';
import type { HiveAccount } from './hive-config.ts';
import type { HiveSettings } from './hive-ground.ts';

/** What `memory.provider` names. */
export const PROVIDER_NAME = 'hivemind';

/** What mends every refusal of this file. */
export const SIGN_IN = 'Sign in: talaria peers login URL USER';

const NEEDED = ['MATRIX_HOMESERVER', 'MATRIX_USER_ID', 'MATRIX_ACCESS_TOKEN'] as const;

export type AccountRefusal = 'peers-not-configured';

/** The refusal's detail names each variable that is not set, else the one that is wrong. */
export function readAccount({ env }: Pick<HiveSettings, 'env'>): Result<HiveAccount, AccountRefusal> {
  const missing = NEEDED.filter((name) => (env[name] ?? '') === '');
  if (missing.length > 0) {
    const names = missing.length > 1 ? `${missing.slice(0, -1).join(', ')} and ${missing.at(-1)}` : missing[0];
    const verb = missing.length > 1 ? 'are' : 'is';
    return refuse('peers-not-configured', `peers are not configured: ${names} ${verb} not set in memory.env`);
  }
  const [homeserver = '', userId = '', accessToken = ''] = NEEDED.map((name) => env[name]?.trim());
  if (!URL.canParse(homeserver) || !/^https?:\/\/[^\s]+$/i.test(homeserver))
    return wrong('MATRIX_HOMESERVER', 'an address such as https://matrix.example.org');
  if (!/^@[^:\s]+:[^\s:]\S*$/.test(userId)) return wrong('MATRIX_USER_ID', '@name:server');
  if (!/^[\x21-\x7e]+$/.test(accessToken)) return wrong('MATRIX_ACCESS_TOKEN', 'a token of one word');
  return ok({ homeserver: homeserver.replace(/\/+$/, ''), userId, accessToken });
}

function wrong(name: string, form: string): Result<HiveAccount, AccountRefusal> {
  return refuse('peers-not-configured', `peers are not configured: ${name} in memory.env must be ${form}`);
}
