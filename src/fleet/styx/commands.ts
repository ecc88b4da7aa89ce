// Owns the commands of the link: who this home is linked with, whose words count here, how both ends stand, and carrying rows where nothing else does.
// Knows no wire. Invariant: an address on which everybody could read along is kept only with the owner's word.
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { createAsyncQueue } from '#base/fabric.ts';
import { isYes, plural } from '#base/text.ts';
import * as command from '#core/agent/command-spec.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, line } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { CARRIER, homeLogPath, openHomeLog, type StyxTransport } from './home-log.ts';
import * as ends from './link-state.ts';
import * as linking from './linking.ts';
import { OWNER_KEY, ownerOf, ownersOf, trustKey } from './owner-key.ts';

export function styxCommands(ground: Ground): readonly AnyCommand[] {
  return [
    linkCommand(ground),
    unlinkCommand(ground),
    statusCommand(ground),
    serveCommand(ground),
    trustCommand(ground),
  ];
}

type Spec<Input> = Omit<command.CommandSpec<Input>, 'name' | 'surfaces' | 'examples'>;

function styxCommand<Input>(word: string, example: string, spec: Spec<Input>): AnyCommand {
  return command.defineCommand({
    name: `styx ${word}`,
    surfaces: ['cli'],
    examples: [`talaria styx ${example}`],
    ...spec,
  });
}

function refusalOf(error: unknown): command.Failure {
  if (!(error instanceof TalariaError)) throw error;
  return command.wrongUse(error.code, error.message, error.fix);
}

const none = z.object({});
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

function linkCommand(ground: Ground): AnyCommand {
  return styxCommand('link', 'link tls://hermes.example:4222 --token-from TALARIA_STYX_TOKEN', {
    summary: 'Link this home with others over a NATS server',
    input: z.object({
      url: z.string().describe('nats://HOST:4222, tls://HOST:4222, ws://HOST or wss://HOST'),
      tokenFrom: z
        .string()
        .regex(VARIABLE)
        .optional()
        .describe('Name of the variable that holds the token of the clade'),
      owner: z
        .string()
        .regex(OWNER_KEY)
        .optional()
        .describe('Key of the founder of the clade, as his `styx status` shows it; default your own'),
      plain: z.boolean().default(false).describe('Do not ask before an address at which others can read along'),
    }),
    positional: ['url'],
    async *run(asked, context) {
      await ground.writable();
      try {
        const url = linking.checkedUrl(asked.url);
        const before = await linking.settingsOf(ground);
        if (!asked.tokenFrom && !linking.isNear(url)) throw new TalariaError(...linking.NO_TOKEN);
        const isAllowed = asked.plain || before.plain === asked.url || !needsWord(asked);
        const no = isAllowed ? undefined : await askedNo(asked, context);
        if (no) return yield no;
        await keepLink(ground, asked);
        yield* linkedLines(ground, asked.tokenFrom);
      } catch (error) {
        yield refusalOf(error);
      }
    },
  });
}

interface Asked {
  readonly url: string;
  readonly tokenFrom?: string | undefined;
  readonly owner?: string | undefined;
}

async function keepLink(ground: Ground, { url, tokenFrom = '', owner = '' }: Asked): Promise<void> {
  const { home } = ground.places;
  if (owner !== '' && owner !== ownerOf(home).key) trustKey(home, owner);
  const plain = needsWord({ url, tokenFrom }) ? url : '';
  const change = { url, token_from: tokenFrom, owner, plain };
  await ground.keep({ config: Object.entries(change).map(([key, value]) => ({ path: ['styx', key], value })) });
}

/** Others could read along. */
function needsWord({ url, tokenFrom }: Asked): boolean {
  return linking.isOpenWay(linking.checkedUrl(url)) || !tokenFrom;
}

async function askedNo({ url, tokenFrom }: Asked, { ask }: CommandContext): Promise<CommandOutput | undefined> {
  const who = tokenFrom ? 'anybody on the way' : 'any program of this machine: there is no token';
  const what = `What travels to ${url} can be read and counted by ${who}.`;
  const fix = tokenFrom ? 'Use tls:// or wss://, or say --plain.' : 'Say --token-from NAME, or --plain.';
  if (ask === undefined) return command.refused('open-way', what, fix);
  return isYes(await ask(`${what} Link all the same? [y/N] `)) ? undefined : line('Nothing changed.');
}

async function* linkedLines(ground: Ground, tokenFrom: string | undefined): AsyncGenerator<CommandOutput> {
  const { home } = ground.places;
  const settings = await linking.settingsOf(ground);
  const { key } = ownerOf(home);
  const clade = linking.cladeHere(home, settings);
  yield line(
    `Linked by ${settings.url}, clade ${clade}. \`talaria golem run\` carries rows from now on; without one: talaria styx serve`,
  );
  if (tokenFrom !== undefined && !ground.variables[tokenFrom])
    yield line(`${tokenFrom} is not set yet: put ${tokenFrom}=… into ${home}/.env, or export it.`);
  if (settings.owner === '' || settings.owner === key) yield line(`On the next machine: ${joinLine(settings, key)}`);
  else yield line(`So that words from here count on the first machine, say there: talaria styx trust ${key}`);
  yield { type: 'data', value: { url: settings.url, clade, key, owner: settings.owner || key } };
}

function joinLine({ url, token_from: from }: linking.StyxSettings, key: string): string {
  return `talaria styx link ${url}${from ? ` --token-from ${from}` : ''} --owner ${key}`;
}

function unlinkCommand(ground: Ground): AnyCommand {
  return styxCommand('unlink', 'unlink', {
    summary: 'Keep to this home again; what came stays, and whose words count does too',
    input: none,
    async *run() {
      await ground.writable();
      const { url } = await linking.settingsOf(ground);
      const keys = ['url', 'token_from', 'owner', 'plain'];
      await ground.keep({ config: keys.map((key) => ({ path: ['styx', key], value: '' })) });
      await withLog(ground, (log) => log.rewind(CARRIER));
      yield line(
        url ? `Unlinked from ${url}. A process that carries rows now does so until it ends.` : 'It was not linked.',
      );
      yield { type: 'data', value: { url } };
    },
  });
}

async function withLog<T>({ places, clock }: Ground, work: (log: StyxTransport) => T | Promise<T>): Promise<T> {
  const log = openHomeLog({ path: homeLogPath(places.home), clock });
  try {
    return await work(log);
  } finally {
    log.close();
  }
}

/** More are not counted. */
const COUNTED = 10_000;

function statusCommand(ground: Ground): AnyCommand {
  return styxCommand('status', 'status', {
    summary: 'How the link stands: both ends, what waits, the last error and its fix; and your key',
    input: none,
    async *run() {
      const settings = await linking.settingsOf(ground);
      const seen = await lookAt(ground, settings);
      yield line(`your key ${seen.key}`);
      for (const one of seen.trusted) yield line(`trusted  ${one}`);
      for (const text of settings.url === '' ? [UNLINKED] : statusLines(settings, seen)) yield line(text);
      const { place, current, origin, key, trusted, clade, up, waits } = seen;
      const { error = null, fix = null, state = 'off' } = current ?? {};
      const both = { up, waits, down: place.down, newest: place.top, state, error, fix };
      yield { type: 'data', value: { url: settings.url, clade, key, trusted, origin, ...both } };
    },
  });
}

const UNLINKED = 'Not linked: talaria styx link URL';

async function lookAt(ground: Ground, settings: linking.StyxSettings) {
  const { home } = ground.places;
  const { key } = ownerOf(home);
  const clade = linking.cladeHere(home, settings);
  return withLog(ground, (log) => ({
    ...{ key, clade, trusted: ownersOf(home).filter((one) => one !== key), origin: log.origin },
    ...{ place: ends.placeOf(log, clade), current: linking.standingLink(home, log) },
    ...{ up: log.position(CARRIER), waits: log.waiting(CARRIER, COUNTED) },
  }));
}

function statusLines(
  settings: linking.StyxSettings,
  { key, clade, origin, up, waits, place, current }: Awaited<ReturnType<typeof lookAt>>,
): readonly string[] {
  const toGo = waits < COUNTED ? plural(waits, 'row') : `over ${COUNTED} rows`;
  const isFounder = settings.owner === '' || settings.owner === key;
  return [
    `clade ${clade}, by ${settings.url}; this log is ${origin}`,
    `up to row ${up} here, ${toGo} to go up; down to message ${place.down} of the stream`,
    ...stateLines(current),
    ...(isFounder ? [`On the next machine: ${joinLine(settings, key)}`] : []),
  ];
}

function stateLines(state: ends.LinkState | undefined): readonly string[] {
  if (state === undefined || state.state === 'off')
    return ['No process carries rows now: talaria golem run NAME, or talaria styx serve', ...errorLines(state)];
  return [`${state.state} since ${isoTime(state.at)}`, ...errorLines(state)];
}

function errorLines(state: ends.LinkState | undefined): readonly string[] {
  const { error, fix, next } = state ?? {};
  if (error === undefined) return [];
  const again = next === undefined || state?.state === 'off' ? '' : `; it is tried again at ${isoTime(next)}`;
  return [`last error ${error}${again}`, ...(fix ? [`fix ${fix}`] : [])];
}

function serveCommand(ground: Ground): AnyCommand {
  return styxCommand('serve', 'serve', {
    summary: 'Carry rows between this home and the others, in the foreground, until it is stopped',
    input: none,
    async *run(_, { signal }) {
      await ground.writable();
      const lines = createAsyncQueue<ends.LinkState>();
      const link = await linking.startLink(ground, lines.push);
      signal.addEventListener('abort', () => {
        lines.close();
      });
      if (signal.aborted || link === undefined) lines.close();
      let last: ends.LinkState | undefined;
      for await (const state of lines) {
        last = state;
        if (link) yield line(linking.linkLine(state));
      }
      await link?.stop();
      if (link) return;
      yield last?.error === undefined
        ? command.refused('not-linked', 'This home is not linked.', 'Say whereto: talaria styx link URL')
        : command.refused('cannot-link', last.error, last.fix);
    },
  });
}

function trustCommand(ground: Ground): AnyCommand {
  return styxCommand('trust', 'trust ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', {
    summary: 'Let words that are signed with the key of another home of yours count here',
    input: z.object({ key: z.string().describe('As `talaria styx status` shows it there') }),
    positional: ['key'],
    async *run({ key }) {
      await ground.writable();
      const fix = 'A key is ed25519: and 43 characters, as talaria styx status shows it on the other machine.';
      if (!OWNER_KEY.test(key)) return yield command.wrongUse('owner-key-invalid', `${key} is no owner's key.`, fix);
      trustKey(ground.places.home, key);
      yield line(`Words that are signed with ${key} count here as yours.`);
      yield { type: 'data', value: { key } };
    },
  });
}
