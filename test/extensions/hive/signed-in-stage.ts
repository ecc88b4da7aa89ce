/** A home that is signed in to a homeserver, as `peers login` leaves it, and rooms as other agents make them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type FakeServer, startFake, type TestAccount } from '../../contract/hive/hive-stage.ts';
import { createStage, type Stage } from '../../surfaces/app/app-fixture.ts';

export interface SignedIn {
  readonly server: FakeServer;
  readonly stage: Stage;
  readonly account: TestAccount;
}

export async function signedInStage(
  t: TestContext,
  { name = 'hermes-of-bob', server, more = '' }: { name?: string; server?: FakeServer; more?: string } = {},
): Promise<SignedIn> {
  const at = server ?? (await startFake({ context: t }));
  const account = await at.register(name);
  accountsOf(at).add(account.userId);
  const stage = createStage(t);
  signIn(stage, { url: at.url, account, more });
  return { server: at, stage, account };
}

export function signIn(
  { root }: Stage,
  { url, account, more = '' }: { readonly url: string; readonly account: TestAccount; readonly more?: string },
): void {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const lines = [
    'version: 1',
    'memory:',
    '  provider: hivemind',
    '  env:',
    `    MATRIX_HOMESERVER: ${url}`,
    `    MATRIX_USER_ID: "${account.userId}"`,
    '    MATRIX_ACCESS_TOKEN: $' + '{MATRIX_ACCESS_TOKEN}',
    more,
  ];
  writeFileSync(join(root, 'config.yaml'), lines.join('\n'));
  writeFileSync(join(root, '.env'), `MATRIX_ACCESS_TOKEN=${account.accessToken}\n`, { mode: 0o600 });
}

/** Somebody introduces us and another agent, who came at once. Gives the room. */
export function introducedBy(
  { server, account }: SignedIn,
  { by = 'hermes-of-alice', other, context }: { by?: string; other: string; context: string },
): string {
  const creator = userOn(server, by);
  const peer = userOn(server, other);
  return server.doors.addRoom({
    creator,
    invite: [account.userId],
    join: [peer],
    messages: [`About ${peer}: ${context}`, `About ${account.userId}: Bob builds enclaves`],
  });
}

const made = new WeakMap<FakeServer, Set<string>>();

function accountsOf(server: FakeServer): Set<string> {
  const known = made.get(server) ?? new Set();
  made.set(server, known);
  return known;
}

/** Made at first; an id of another server is a person of that server. */
export function userOn(server: FakeServer, name: string): string {
  const userId = name.startsWith('@') ? name : `@${name}:${server.serverName}`;
  const known = accountsOf(server);
  if (!known.has(userId)) server.doors.addAccount(userId);
  known.add(userId);
  return userId;
}

export function says(server: FakeServer, room: string, sender: string, body: string): void {
  server.doors.inject(room, { type: 'm.room.message', sender, content: { msgtype: 'm.text', body } });
}
