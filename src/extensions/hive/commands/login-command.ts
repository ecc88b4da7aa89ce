// Owns `peers login`: what is typed, what is asked, what is said. Knows the server through login/ alone. Invariants: nothing is kept that
// the server did not confirm; a password is neither shown nor kept; what a sign-in replaces is said and agreed to before.
import { z } from 'zod';
import { TalariaError } from '#base/errors.ts';
import { ok } from '#base/result.ts';
import { type Failure, failed, refused, wrongUse } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { HiveGround, HiveSettings } from '../hive-ground.ts';
import { PeerError } from '../peers/peer-error.ts';
import { type AskServer, createAskServer, findServer, isUser, readUser, type TypedUser } from './find-server.ts';
import { keepSignIn, presentDevice, register, replacedBy, type SignedIn, signIn, signOut } from './sign-in.ts';
import { agreed, peerFailure, shownLine } from './with-peers.ts';

const input = z.object({
  url: z.string('type the address of a server').describe('Address or name of a Matrix server'),
  user: z.string('type a user').describe('@name:server, or the name alone'),
  register: z.boolean().default(false).describe('Make the account first'),
  yes: z.boolean().default(false).describe('Replace another sign-in without asking'),
});

type Asked = z.infer<typeof input>;

export function loginCommand(ground: HiveGround): AnyCommand {
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
    run: (asked, context) => run({ ground, asked, context, ask: createAskServer(ground.clock) }),
  });
}

interface Login {
  readonly ground: HiveGround;
  readonly asked: Asked;
  readonly context: CommandContext;
  readonly ask: AskServer;
}

async function* run(login: Login): AsyncGenerator<CommandOutput> {
  try {
    yield* signedInAndKept(login);
  } catch (error) {
    if (error instanceof PeerError) yield unchanged(peerFailure(error));
    else if (error instanceof TalariaError && error.code !== 'aborted')
      yield failed(error.code, error.message, error.fix ?? 'Nothing was changed.');
    else throw error;
  }
}

async function* signedInAndKept(login: Login): AsyncGenerator<CommandOutput> {
  const { ground, asked, context, ask } = login;
  const user = readUser(asked.user);
  if (!user.ok) {
    yield wrongUse(user.reason, user.detail, 'Type @name:server, or the name alone.');
    return;
  }
  const server = await findServer(asked.url, ask, context.signal);
  if (!server.ok) {
    yield wrongUse(server.reason, server.detail, 'Type https://HOST, or http://HOST in a private network.');
    return;
  }
  const { url, isOpen } = server.value;
  yield { type: 'line', text: `server ${url}` };
  if (isOpen)
    yield { type: 'line', text: 'note: http is not encrypted; fit for this machine or a network of your own.' };
  const settings = await ground.settings();
  const replaced = replacedBy(user.value, url, settings);
  for (const text of replaced) yield { type: 'line', text };
  const consent = replaced.length === 0 ? ok(true) : await agreed(context, { yes: asked.yes, question: 'Replace it?' });
  if (!consent.ok) {
    yield refused(consent.reason, consent.detail, 'Nothing was changed.');
    return;
  }
  const password = await passwordOf(login, user.value);
  if (!password.ok) {
    yield password.failure;
    return;
  }
  const entered = await enter(login, { user: user.value, url, password: password.value, env: settings.env });
  await keptOrOut(login, url, entered);
  yield* said(ground, url, entered);
}

type Password = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly failure: Failure };

async function passwordOf({ ground, asked, context }: Login, { name }: TypedUser): Promise<Password> {
  const given = ground.variables.MATRIX_PASSWORD ?? '';
  if (given !== '') return { ok: true, value: given };
  const value = (await context.ask?.(`Password of ${shownLine(name, 60)}:`, 'secret')) ?? '';
  if (value === '') {
    const fix = 'Type it when asked, or set MATRIX_PASSWORD for this one command. Nothing was changed.';
    return { ok: false, failure: refused('password-missing', 'there is no password', fix) };
  }
  if (asked.register && (await context.ask?.('The same again:', 'secret')) !== value)
    return { ok: false, failure: wrongUse('password-differs', 'the two are not the same', 'Nothing was changed.') };
  return { ok: true, value };
}

interface Entry {
  readonly user: TypedUser;
  readonly url: string;
  readonly password: string;
  /** The present sign-in. */
  readonly env: HiveSettings['env'];
}

/** Throws PeerError; a sign-in as somebody else than was typed is taken back. */
async function enter(login: Login, entry: Entry): Promise<SignedIn> {
  const { asked, context, ask } = login;
  const { user, url } = entry;
  const entered = await (asked.register ? signUp(login, entry) : signInAgain(login, entry));
  if (isUser(user, entered.userId)) return entered;
  await signOut({ url, accessToken: entered.accessToken }, ask, context.signal);
  throw new PeerError(`${url} signed in ${shownLine(entered.userId, 200)}, which is not whom you named`, {
    code: 'peers-bad-response',
    fix: 'Check the server, and the user.',
  });
}

async function signUp({ ground, context, ask }: Login, { user, url, password }: Entry): Promise<SignedIn> {
  return register({ url, name: user.name, password, ...tokenOf(ground) }, ask, context.signal);
}

async function signInAgain({ context, ask }: Login, { user, url, password, env }: Entry): Promise<SignedIn> {
  const deviceId = await presentDevice({ url, user, env }, ask, context.signal);
  const name = user.server === undefined ? user.name : `@${user.name}:${user.server}`;
  return signIn({ url, user: name, password, ...(deviceId === undefined ? {} : { deviceId }) }, ask, context.signal);
}

function tokenOf({ variables }: HiveGround): { readonly token?: string } {
  const token = variables.MATRIX_REGISTRATION_TOKEN ?? '';
  return token === '' ? {} : { token };
}

/** What cannot be kept is signed out again. */
async function keptOrOut({ ground, context, ask }: Login, url: string, entered: SignedIn): Promise<void> {
  try {
    await keepSignIn(ground, url, entered);
  } catch (error) {
    await signOut({ url, accessToken: entered.accessToken }, ask, context.signal);
    throw error;
  }
}

function* said({ places }: HiveGround, url: string, { userId, deviceId }: SignedIn): Generator<CommandOutput> {
  const device = deviceId === '' ? '' : ` (device ${shownLine(deviceId, 60)})`;
  yield { type: 'line', text: `signed in as ${shownLine(userId, 200)}${device}` };
  yield {
    type: 'line',
    text: `kept: the token in .env beside ${places.config}, the rest in it (memory.provider, memory.env)`,
  };
  yield {
    type: 'line',
    text: 'Next: `talaria peers doctor` looks at everything; `talaria peers list` shows whom you know.',
  };
  yield { type: 'data', value: { homeserver: url, user_id: userId, device_id: deviceId, config: places.config } };
}

function unchanged(failure: Failure): Failure {
  return { ...failure, fix: `${failure.fix} Nothing was changed.`.trim() };
}
