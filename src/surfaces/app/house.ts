// Owns one home in use: what is opened of it, when, and its end. Loads the agent when it is asked for. Knows no room.
// Invariants: nothing is opened that nobody asked for; whatever was opened is closed again, also when the rest cannot be opened.

import { existsSync } from 'node:fs';
import { AbortedError } from '#base/abort.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import { lazy } from '#base/lazy.ts';
import type { Doors, Ground, Room, RoomGround, Seat } from '#core/agent/room.ts';
import type { App, AppOptions } from './app.ts';
import { lendGround } from './ground.ts';
import { type LoadedConfig, loadConfig, openStartCache } from './home/config.ts';
import type { UnknownSetting } from './home/config-schema.ts';
import { findHome, type Home, makeHome, restoreIntent } from './home/home.ts';
import { mergedVariables } from './home/variables.ts';
import { OpenRooms } from './open-rooms.ts';
import { createEndings, openReports, type Place } from './place.ts';
import { loadRooms, stateOpening } from './rooms.ts';

declare module '#core/agent/room.ts' {
  interface Doors {
    /** Opens another home as this one was, with what an embedding program brought along here. */
    readonly homes: (options: Pick<AppOptions, 'environment' | 'clock' | 'extra'>) => House;
  }
}

export interface House {
  readonly home: Home;
  readonly clock: Clock;
  readonly environment: AppOptions['environment'];
  /** Composes the agent, once. Throws TalariaError: `inside`, `session-folder`, `config-invalid`, `missing-key`, what the database says. */
  readonly app: () => Promise<App>;
  /** Opens the room that lends it, and nothing else. Throws as `app`. */
  readonly door: <Name extends keyof Doors>(name: Name) => Promise<Doors[Name]>;
  /** What a person should be told of what is open so far. */
  readonly notices: () => Pick<App, 'notices' | 'modelNotices'>;
  /** Idempotent. */
  readonly shutdown: () => Promise<void>;
}

/** Throws as `House.app`. */
export function composeApp(options: AppOptions): Promise<App> {
  return openHouse(options).app();
}

export function openHouse(options: AppOptions): House {
  const { environment, clock = systemClock } = options;
  const place = lazy(() => openPlace(options, () => app()));
  const app: () => Promise<App> = lazy(async () => (await import('./compose.ts')).composeAgent(await place()));
  return {
    home: findHome(environment),
    clock,
    environment,
    app,
    door: async (name) => (await place()).rooms.door(name),
    notices: () => place.now() ?? { notices: [], modelNotices: [] },
    shutdown: async () => place.now()?.endings.run(),
  };
}

async function openPlace(options: AppOptions, app: () => Promise<App>): Promise<Place> {
  const { environment, clock = systemClock } = options;
  if (options.door) await (await import('./home/session-door.ts')).enterSession(environment, options.door);
  const home = findHome(environment);
  const mended = await finishInterrupted(home);
  const cache = openStartCache(home.cache);
  const loaded = await loadConfig(home.config, cache);
  makeHome(home);
  const all = [homesRoom(options), ...(await loadRooms()), ...(options.extra?.rooms ?? [])];
  const secrets = all.flatMap((room) => room.secrets ?? []);
  const reports = openReports({ home, clock, options, loaded, secrets });
  for (const notice of [...mended, ...(loaded.readOnly ? [`${loaded.readOnly}.`] : []), ...(await misspelled(loaded))])
    reports.notice(notice);
  reports.later('start cache', async () => cache?.keep());
  const bare = { ...reports, home, clock, options, loaded, secrets, late: {}, attended: new Set<string>() };
  const lend = roomLender(bare, { app, all, opening: await stateOpening(home), door: (name) => rooms.door(name) });
  const rooms = new OpenRooms(all, lend);
  const endings = createEndings();
  endings.add(() => rooms.close());
  endings.add(() => drain(bare));
  return { ...bare, rooms, endings };
}

function homesRoom({ extra = {} }: AppOptions): Room {
  const homes: Doors['homes'] = ({ extra: more = {}, ...options }) =>
    openHouse({ ...options, extra: { ...extra, ...more, rooms: [...(extra.rooms ?? []), ...(more.rooms ?? [])] } });
  return { name: 'homes', lends: ['homes'], open: () => ({ doors: { homes } }) };
}

/** How long the end waits for background work, ms. */
const PATIENCE_MS = 5_000;

async function drain({ background, log }: Pick<Place, 'background' | 'log'>): Promise<void> {
  const left = await background.drain(PATIENCE_MS);
  if (left.length > 0) log('background-left', left.join(', '));
}

interface Lent {
  readonly app: () => Promise<App>;
  readonly all: readonly Room[];
  readonly opening: RoomGround['opening'];
  readonly door: Ground['door'];
}

function roomLender(place: Omit<Place, 'rooms' | 'endings'>, { app, all, opening, door }: Lent) {
  const { options, home, clock, loaded, notice, events, log, redact, background, later, late, attended } = place;
  const { environment, run, extra, oneShot, serves } = options;
  const lend = (): Ground => lendGround({ environment, home, clock, notice, loaded, app, door });
  const { config } = loaded;
  const composed = () => {
    if (!late.seat) throw new AbortedError('the agent is not composed yet');
    return late.seat;
  };
  const isAttended = (sessionId: string) => attended.has(sessionId);
  const asks = config.approvals.mode === 'ask' && run?.permission !== 'auto';
  const seat: Seat = {
    model: () => composed().model(),
    forTier: (tier) => composed().forTier(tier),
    ...(config.tiers.T1.length > 0 ? { small: () => late.seat?.forTier('T1') } : {}),
    tools: () => composed().tools(),
    shown: () => composed().shown(),
    isAttended,
    isAsked: (sessionId) => asks && isAttended(sessionId),
  };
  const providers = lazy(async () => {
    const offered = all.flatMap((room) => room.provider ?? []);
    const named = offered.filter(({ name }) => name === config.memory.provider);
    const opened = await Promise.all(named.map((one) => one.open(lend())));
    const known = [...(extra?.memoryProviders ?? []), ...opened];
    return { known, installed: [...new Set([...known, ...offered].map(({ name }) => name))] };
  });
  return (): Omit<RoomGround, 'database'> =>
    Object.assign(lend(), {
      ...{ events, notice, log, redact, background, later, opening, seat, providers },
      stays: oneShot !== true,
      serves: serves === true,
      embedder: async () => {
        const { configuredEmbedder } = await import('./models/build-client.ts');
        const variables = mergedVariables(home, environment);
        return configuredEmbedder({ notice: place.modelNotice, config, variables, clock });
      },
    });
}

/** What a killed restore left, before anything of the home is read. */
async function finishInterrupted(home: Home): Promise<readonly string[]> {
  if (!existsSync(restoreIntent(home))) return [];
  const { finishRestore } = await import('./backup/restore-backup.ts');
  return [(await finishRestore(home)) ?? []].flat();
}

/** Settings that are nearly one: what was meant has no effect, and nobody would notice. */
async function misspelled({ raw, locate, readOnly, cache }: LoadedConfig): Promise<readonly string[]> {
  if (Object.keys(raw).length === 0 || readOnly !== undefined) return [];
  const key = `unknown settings ${JSON.stringify(raw)}`;
  const kept = cache?.get(key) as readonly UnknownSetting[] | undefined;
  const unknown = kept ?? (await (await import('./home/config-schema.ts')).unknownSettings(raw));
  if (!kept) cache?.set(key, unknown);
  return unknown.flatMap(({ keys, near }) =>
    near === undefined ? [] : [`${locate(keys)}: ${keys.join('.')} is no setting; did you mean ${near}?`],
  );
}
