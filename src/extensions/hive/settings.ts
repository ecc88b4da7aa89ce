// Owns the section `peers` of config.yaml and the three variables of `memory.env` (seed 004, layer 2). Data only.
// Invariant: with both switches off nothing is kept on this machine.

import { z } from 'zod';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Settings } from '#core/agent/room.ts';

const pattern = z
  .string()
  .regex(/^[^\s@]*@[^\s@]+$/, 'must be NAME@SERVER; * stands for anything')
  .describe('NAME@SERVER; `*` stands for anything.');

const peerId = z
  .string()
  .regex(/^[^\s*]+@[^\s@*]+$/, 'must be the whole id of one peer, NAME@SERVER')
  .describe('NAME@SERVER, one peer.');

/** A misspelt switch of privacy must not pass in silence, so unknown keys are errors. */
export const hiveSchema = z.strictObject({
  e2ee: z.boolean().default(false).describe('Encrypt messages end to end; keeps a key store in `peers/` of the home.'),
  encrypt_account_data: z
    .boolean()
    .default(false)
    .describe(
      'Encrypt what is noted about peers (contexts, summaries, suggestions) with a key in `peers/` of the home.',
    ),
  join: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Accept introductions by themselves.'),
      allow: z
        .array(pattern)
        .default([])
        .describe('Whose introductions are accepted; empty: everybody who is not denied.'),
      deny: z.array(pattern).default([]).describe('Whose introductions are not accepted.'),
      per_turn: z.int().min(1).max(1_000).default(10).describe('Introductions accepted in one turn; the rest waits.'),
    })
    .prefault({})
    .describe('Who may introduce.'),
  allow_send: z
    .array(peerId)
    .default([])
    .describe('Peers to whom the agent may write without asking you, also where nobody can be asked.'),
  suggestions: z.boolean().default(true).describe('Summarise peers and suggest introductions.'),
});

export type HiveConfig = z.infer<typeof hiveSchema>;

/** What `memory.env` must hold for `memory.provider: hivemind`. */
export interface HiveAccount {
  /** MATRIX_HOMESERVER, e.g. `https://matrix.example.org`; no slash at its end. */
  readonly homeserver: string;
  /** MATRIX_USER_ID, `@name:server`. */
  readonly userId: string;
  /** MATRIX_ACCESS_TOKEN */
  readonly accessToken: string;
}

/** What `memory.provider` names. */
export const PROVIDER_NAME = 'hivemind';

/** What mends every refusal of this file. */
export const SIGN_IN = 'Sign in: talaria peers login URL USER';

const NEEDED = ['MATRIX_HOMESERVER', 'MATRIX_USER_ID', 'MATRIX_ACCESS_TOKEN'] as const;

export type AccountRefusal = 'peers-not-configured';

/** The refusal's detail names each variable that is not set, else the one that is wrong. */
export function readAccount({ env }: Pick<Settings, 'env'>): Result<HiveAccount, AccountRefusal> {
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
