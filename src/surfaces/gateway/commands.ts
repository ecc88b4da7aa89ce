// Owns the words of the gateway: `gateway`, `gateway status|users|pair|forget|install`, and what of it lives inside `talaria serve`.
// Knows no message. Invariants: without a channel in the configuration nothing is opened; a token or secret stands in no output.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { openBlobs } from '#base/blobs.ts';
import { isoTime } from '#base/clock.ts';
import { openDatabase } from '#base/database.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { holderState, holderWords } from '#base/process/holder.ts';
import { type AnyCommand, type CommandOutput, defineCommand, failed, line, refused } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import type { App, AppOptions } from '#surfaces/app/app.ts';
import { gatewaySchema } from '#surfaces/app/home/config-schema.ts';
import { fillVariables } from '#surfaces/app/home/variables.ts';
import type { OpenPart, ServePart } from '#surfaces/app/serve-part.ts';
import type { ChannelSeat } from './lanes.ts';
import { Mailbox, mailboxSchema } from './mailbox.ts';
import { People } from './people.ts';

export interface GatewaySeat {
  readonly ground: Ground;
  readonly app: (means?: Pick<AppOptions, 'serves'>) => Promise<App>;
}

const FILE = 'gateway.sqlite';
const SETUP =
  'Put TELEGRAM_BOT_TOKEN into .env and `gateway: {telegram: {}}` into config.yaml, or set gateway.webhook (docs/guide/gateway.md).';

export function gatewayCommands(seat: GatewaySeat): readonly AnyCommand[] {
  return [
    runCommand(seat),
    statusCommand(seat),
    usersCommand(seat),
    pairCommand(seat),
    forgetCommand(seat),
    installCommand(seat),
  ];
}

/** The part of `talaria serve`. */
export const gatewayPart: ServePart = { open: (app, ground) => openGateway(app, ground) };

interface Box {
  readonly mailbox: Mailbox;
  readonly people: People;
  /** What became of a damaged file. */
  readonly notices: readonly string[];
  readonly close: () => void;
}

function openBox({ places, clock }: Pick<Ground, 'places' | 'clock'>): Box {
  const { database, notices } = openDatabase(join(places.home, FILE), { rooms: [mailboxSchema], clock });
  const rows = { mailbox: new Mailbox(database, clock), people: new People(database, clock) };
  return { ...rows, notices: notices.map(({ message }) => message), close: () => database.close() };
}

async function openGateway(app: App, ground: Ground): Promise<OpenPart | undefined> {
  const settings = (await ground.settings()).section('gateway', gatewaySchema);
  const hooks: Hooks = new Map();
  const channels = await openChannels(app, ground, hooks);
  if (channels.length === 0) return undefined;
  const box = openBox(ground);
  const { Gateway } = await import('./desk.ts');
  const { mailbox, people } = box;
  const sessionIdleMs = msOf(settings.telegram.session_idle);
  const gateway = new Gateway({
    app,
    mailbox,
    people,
    channels,
    guestToolsets: settings.guest_toolsets,
    sessionIdleMs,
  });
  const held = await gateway.take();
  if (!held.ok) {
    box.close();
    throw new TalariaError(held.detail, { code: held.reason, fix: 'Stop it first, or use it.' });
  }
  return {
    shown: [channels.map(({ channel }) => channel.name).join(', '), ...box.notices].join('; '),
    paths: ['hooks'],
    fetch: async (request) => {
      const name = decodeURIComponent(new URL(request.url).pathname.split('/')[2] ?? '');
      return (
        hooks.get(name)?.(request) ?? Response.json({ error: { message: `there is no hook ${name}` } }, { status: 404 })
      );
    },
    run: (signal) => gateway.run(signal).finally(box.close),
  };
}

type Hooks = Map<string, (request: Request) => Promise<Response>>;

async function openChannels(app: App, ground: Ground, hooks: Hooks): Promise<readonly ChannelSeat[]> {
  const settings = await ground.settings();
  if (!settings.has('gateway')) return [];
  const { webhook } = settings.section('gateway', gatewaySchema);
  const telegram = await telegramSeat(app, ground, hooks);
  const { WebhookChannel } = await import('./webhook.ts');
  const programs = Object.entries(webhook).map(([name, { secret: reference, callback, seat }]): ChannelSeat => {
    const secret = filledIn(ground, `webhook.${name}.secret`, reference);
    const channel = new WebhookChannel(
      name,
      { secret, callback },
      { clock: app.clock, blobs: openBlobs(app.home.blobs) },
    );
    hooks.set(name, (request) => channel.fetch(request));
    return { channel, allow: [], seat, groups: 'off', progress: 'off' };
  });
  return [...(telegram ? [telegram] : []), ...programs];
}

async function telegramSeat({ clock }: App, ground: Ground, hooks: Hooks): Promise<ChannelSeat | undefined> {
  const { telegram } = (await ground.settings()).section('gateway', gatewaySchema);
  const {
    token = ground.variables.TELEGRAM_BOT_TOKEN && `\${TELEGRAM_BOT_TOKEN}`,
    mode,
    webhook,
    allow,
    groups,
    progress,
  } = telegram;
  if (!token) return undefined;
  const { openTelegram } = await import('./telegram.ts');
  const secret = () => filledIn(ground, 'telegram.webhook.secret', webhook.secret ?? `\${TELEGRAM_WEBHOOK_SECRET}`);
  const called = mode === 'webhook' ? { webhook: { url: webhook.url, secret: secret() } } : {};
  const options = { token: filledIn(ground, 'telegram.token', token), clock, apiRoot: telegram.api_root };
  const channel = await openTelegram({ ...options, ...called });
  if (mode === 'webhook') hooks.set('telegram', (request) => channel.called(request));
  return { channel, allow, groups, progress };
}

/** A reference with its variable filled in. */
function filledIn({ variables }: Ground, key: string, reference: string): string {
  const filled = fillVariables(reference, variables);
  if (filled.ok && filled.value !== '') return filled.value;
  const why = filled.ok ? 'it is empty' : filled.detail;
  throw new TalariaError(`gateway.${key}: ${why}`, { code: 'missing-key', fix: 'Put it into .env of the home.' });
}

const LENGTHS = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `6h` in ms. */
function msOf(span: string): number {
  return Number.parseInt(span, 10) * LENGTHS[span.at(-1) as keyof typeof LENGTHS];
}

function runCommand({ ground, app }: GatewaySeat): AnyCommand {
  return defineCommand({
    name: 'gateway',
    summary: 'Answer in Telegram, and run what is scheduled, until it is stopped',
    surfaces: ['cli'],
    untilStopped: true,
    input: z.object({}),
    async *run(_: object, { signal }): AsyncGenerator<CommandOutput> {
      try {
        const part = await openGateway(await app({ serves: true }), ground);
        if (part) yield line(`Talaria answers in ${part.shown}`);
        if (!part) return yield refused('no-channel', 'There is neither a bot with its token nor a webhook.', SETUP);
        await part.run(signal);
      } catch (error) {
        const { code = '', fix = '' } = error instanceof TalariaError ? error : {};
        const told = TOLD[code];
        if (!told) throw error;
        yield told(code, errorText(error), fix);
      }
    },
  });
}

const TOLD: Readonly<Record<string, typeof failed>> = { 'held-elsewhere': refused, 'telegram-token': failed } as never;

/** What stands in the file; a home without one has no gateway. */
async function* withBox(
  ground: Ground,
  work: (box: Box) => AsyncIterable<CommandOutput>,
): AsyncGenerator<CommandOutput> {
  if (!existsSync(join(ground.places.home, FILE)))
    return yield refused('no-gateway', 'No gateway ever ran in this home.', SETUP);
  const box = openBox(ground);
  try {
    for (const notice of box.notices) yield line(notice);
    yield* work(box);
  } finally {
    box.close();
  }
}

function statusCommand({ ground }: GatewaySeat): AnyCommand {
  return defineCommand({
    name: 'gateway status',
    summary: 'Channels, and what came in and goes out, by state',
    surfaces: ['cli'],
    readOnly: true,
    input: z.object({}),
    run: () =>
      withBox(ground, async function* ({ mailbox }) {
        const holders = mailbox.holders();
        const alive = holders.filter(({ holder }) => holderState(holder) === 'alive');
        const counts = mailbox.counts();
        const names = [...new Set([...holders, ...counts].map(({ channel }) => channel))];
        const channels = names.map((name) => {
          const held = holders.find(({ channel }) => channel === name);
          const of = (box: 'inbox' | 'outbox') =>
            Object.fromEntries(
              counts.flatMap((row) => (row.box === box && row.channel === name ? [[row.state, row.count]] : [])),
            );
          const last_error = held?.fault ?? mailbox.lastError(name) ?? null;
          return {
            name,
            state: alive.some(({ channel }) => channel === name) ? 'runs' : 'stopped',
            inbox: of('inbox'),
            outbox: of('outbox'),
            last_error,
          };
        });
        yield* channelLines(channels);
        yield { type: 'data', value: { process: alive[0] ? holderWords(alive[0].holder) : null, channels } };
      }),
  });
}

interface ShownChannel {
  readonly name: string;
  readonly state: string;
  readonly inbox: Readonly<Record<string, number>>;
  readonly outbox: Readonly<Record<string, number>>;
  readonly last_error: string | null;
}

function* channelLines(channels: readonly ShownChannel[]): Generator<CommandOutput> {
  for (const { name, state, inbox, outbox, last_error } of channels) {
    yield line(`${name}: ${state} · in: ${countsText(inbox)} · out: ${countsText(outbox)}`);
    if (last_error !== null) yield line(`  last fault: ${last_error}`);
  }
  if (channels.length === 0) yield line('No channel ever ran in this home.');
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return (
    Object.entries(counts)
      .map(([state, count]) => `${count} ${state}`)
      .join(', ') || 'nothing'
  );
}

function usersCommand({ ground }: GatewaySeat): AnyCommand {
  return defineCommand({
    name: 'gateway users',
    summary: 'Who may talk to Talaria, and as whom',
    surfaces: ['cli'],
    readOnly: true,
    input: z.object({}),
    run: () =>
      withBox(ground, async function* ({ people }) {
        const all = people
          .all()
          .map(({ person: id, name, seat, channel, since }) => ({ id, name, seat, channel, since: isoTime(since) }));
        for (const { id, name, seat, channel, since } of all)
          yield line(`${name} (${channel} ${id}): ${seat}, since ${since.slice(0, 10)}`);
        if (all.length === 0) yield line('Nobody yet: who writes first gets a code for `talaria gateway pair`.');
        yield { type: 'data', value: all };
      }),
  });
}

function pairCommand({ ground }: GatewaySeat): AnyCommand {
  return defineCommand({
    name: 'gateway pair',
    summary: 'Let the person in who was given this code',
    surfaces: ['cli'],
    positional: ['code'],
    input: z.object({
      code: z.string().describe('As the person was told'),
      guest: z.boolean().default(false).describe('As a guest: nothing of yours is shown, and nothing acts'),
      as: z.string().min(1).max(64).optional().describe('What to call him'),
    }),
    examples: ['talaria gateway pair K7QX2MNP', 'talaria gateway pair K7QX2MNP --guest --as Ada'],
    run: ({ code, guest, as }) =>
      withBox(ground, async function* ({ mailbox, people }) {
        const paired = await people.pair(code, guest ? 'guest' : 'owner', as);
        if (!paired.ok)
          return yield refused(paired.reason, `${paired.detail}.`, 'Whoever writes again gets a new one.');
        const { channel, chat, name, seat } = paired.value;
        await mailbox.answer({ channel, chat }, ['You are let in. /help tells what can be typed.']);
        yield line(`${name} (${channel}) is ${seat === 'owner' ? 'an owner' : 'a guest'} now.`);
      }),
  });
}

function forgetCommand({ ground }: GatewaySeat): AnyCommand {
  return defineCommand({
    name: 'gateway forget',
    summary: 'Take a person’s seat away; what was said stays in its session',
    surfaces: ['cli'],
    positional: ['person'],
    input: z.object({ person: z.string().min(1).describe('Id or name, as `gateway users` has it') }),
    run: ({ person }) =>
      withBox(ground, async function* ({ people }) {
        const gone = await people.forget(person);
        if (gone.length === 0)
          return yield refused('no-such-person', `There is no ${person}.`, '`talaria gateway users` lists them.');
        for (const { name, channel } of gone) yield line(`${name} (${channel}) is a stranger again.`);
      }),
  });
}

function installCommand({ ground }: GatewaySeat): AnyCommand {
  return defineCommand({
    name: 'gateway install',
    summary: 'Let systemd or launchd keep `talaria serve` running',
    surfaces: ['cli'],
    input: z.object({ remove: z.boolean().default(false).describe('Take it away again') }),
    async *run({ remove }, { signal }): AsyncGenerator<CommandOutput> {
      const service = await import('#base/process/service.ts');
      const scheduler = service.findScheduler(ground);
      if (!scheduler) return yield refused('no-scheduler', 'This machine has no systemd and no launchd.', INSTEAD);
      if (remove) {
        const { removed } = await service.removeService('serve', { scheduler, keepEnabled: false }, ground, signal);
        return yield line(`removed: ${removed.join(', ') || 'nothing was there'}`);
      }
      const plan = await service.planService(serviceOf(ground), { scheduler, enable: true }, ground, signal);
      if (!plan.ok) return yield refused(plan.reason, plan.detail);
      const { exit_code, output } = await service.carryOut(plan.value, ground, signal);
      for (const { path } of plan.value.files) yield line(`written: ${path}`);
      if (exit_code !== 0) yield failed('not-enabled', output.trim(), service.schedulerFix(scheduler, output, INSTEAD));
    },
  });
}

const INSTEAD = 'Keep `talaria serve` running in another way.';

function serviceOf({ places: { home, userHome }, program }: Ground) {
  const logs = { out: join(home, 'logs', 'serve.out.log'), err: join(home, 'logs', 'serve.err.log') };
  const env: Readonly<Record<string, string>> = home === join(userHome, '.talaria') ? {} : { TALARIA_HOME: home };
  return { name: 'serve', about: ['Talaria', 'Talaria'], program, args: ['serve'], env, logs } as const;
}
