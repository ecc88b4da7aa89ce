// Owns whether and whereto a home is linked: its section of the settings, what stands of the link in the log's notes, and who starts it: one process
// of the home at a time. Knows no wire; without link.ts and its line here nothing is linked. Invariant: nothing of the network is loaded
// for a home that is not linked.
import { join } from 'node:path';
import { z } from 'zod';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { isJsonObject } from '#base/json.ts';
import { readIfThere, withFileLock } from '#base/platform.ts';
import { holderState } from '#base/process/holder.ts';
import type { Ground } from '#core/agent/room.ts';
import { CARRIER, homeLogPath, openHomeLog, type StyxTransport } from './home-log.ts';
import { AGAIN, type LinkState, type RunLink, STATE_NOTE } from './link-state.ts';
import { cladeOf, OWNER_KEY, ownerOf } from './owner-key.ts';

export const styxSettings = z.object({
  url: z
    .string()
    .default('')
    .describe('Server that carries rows between homes: nats://, tls://, ws:// or wss://; empty: none'),
  token_from: z.string().default('').describe('Name of the variable that holds the token of the clade'),
  owner: z
    .union([z.literal(''), z.string().regex(OWNER_KEY)])
    .default('')
    .describe('Key of the founder of the clade; empty: your own'),
  plain: z.string().default('').describe('Address that you allowed to be reached unencrypted'),
});

export type StyxSettings = z.output<typeof styxSettings>;

/** Empty: the link was taken out. */
const LINKS: readonly (() => Promise<{ readonly runLink: RunLink }>)[] = [() => import('./link.ts')];

export async function settingsOf(ground: Pick<Ground, 'settings'>): Promise<StyxSettings> {
  return (await ground.settings()).section('styx', styxSettings);
}

/** By its founder's key. */
export function cladeHere(home: string, { owner }: StyxSettings): string {
  return cladeOf(owner || ownerOf(home).key);
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Throws TalariaError `url-invalid`. */
export function checkedUrl(text: string): URL {
  const url = URL.parse(text);
  const fix =
    'Give nats://HOST:4222, tls://HOST:4222, or wss://HOST; the token stands in a variable: --token-from NAME.';
  // What may be a secret is not repeated.
  const isBare = !/[@?#]/.test(text);
  if (!url?.hostname || !/^(?:nats|tls|wss?):$/.test(url.protocol) || !isBare)
    throw new TalariaError(
      `${isBare ? text : 'An address with more than server and path in it'} is no address of a server`,
      {
        ...{ code: 'url-invalid', fix },
      },
    );
  return url;
}

/** Does it stay on this machine? There alone no token is needed. */
export function isNear({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname);
}

/** Is what travels there readable on the way? */
export function isOpenWay(url: URL): boolean {
  return /^(?:nats|ws):$/.test(url.protocol) && !isNear(url);
}

export interface RunningLink {
  /** How the link of this home stands, whoever holds it; undefined: not known yet. */
  state(): LinkState | undefined;
  /** Idempotent. */
  stop(): Promise<void>;
}

/** How often a process looks whether the one that holds the link is gone, ms. */
const LEASE_MS = 5_000;

/** How long what was said last is waited for to go up, and between two looks, ms. */
const FAREWELL_MS = 5_000;
const FAREWELL_LOOK_MS = 50;

/**
 * Undefined: this home is not linked, or cannot be as it is set, and `tell` hears why. Else this process carries rows while it runs, or
 * waits until the one that does is gone; `tell` hears every change.
 */
export async function startLink(ground: Ground, tell: (state: LinkState) => void): Promise<RunningLink | undefined> {
  const settings = await settingsOf(ground);
  if (settings.url === '') return undefined;
  try {
    return await started(ground, settings, tell);
  } catch (error) {
    if (!(error instanceof TalariaError)) throw error;
    const { message, fix } = error;
    tell({ state: 'off', at: ground.clock.now(), url: settings.url, error: message, ...(fix ? { fix } : {}) });
    return undefined;
  }
}

/** The link runs while `work` does; what was said last goes up before it ends, where the server is in reach. */
export async function withLink<T>(
  ground: Ground,
  tell: (state: LinkState) => void,
  work: () => Promise<T>,
): Promise<T> {
  const link = await startLink(ground, tell);
  return work().finally(() => link?.stop());
}

/** Throws TalariaError `url-invalid`, `open-way`, `no-link`, `no-token`. */
async function started(ground: Ground, settings: StyxSettings, tell: (state: LinkState) => void): Promise<RunningLink> {
  const { clock, places } = ground;
  const token = checkedToken(ground, settings);
  const [load] = LINKS;
  if (load === undefined) throw new TalariaError('This Talaria was built without the link', { code: 'no-link' });
  const { runLink } = await load();
  const log = openHomeLog({ path: homeLogPath(places.home), clock });
  // Undefined: another process holds it.
  let own: { said?: LinkState } | undefined;
  const onState = (state: LinkState) => {
    own = { said: state };
    tell(state);
    void log.keepNote(STATE_NOTE, { ...state }).catch(() => undefined);
  };
  const end = new AbortController();
  const about = { url: settings.url, tokenFrom: settings.token_from, clade: cladeHere(places.home, settings) };
  const parts = { ...about, log, token, ground, onState };
  const run = () => {
    own = {};
    return runLink(parts, end.signal);
  };
  const running = whileHeld(ground, end.signal, run).catch(() => undefined);
  return {
    state: () => (own ? own.said : standingLink(places.home, log)),
    stop: async () => {
      const until = clock.monotonic() + FAREWELL_MS;
      const isTrying = () => /^(?:connecting|linked)$/.test(own?.said?.state ?? 'connecting');
      const isOnItsWay = () => isTrying() && log.waiting(CARRIER, 1) > 0;
      while (!end.signal.aborted && clock.monotonic() < until && isOnItsWay()) await clock.sleep(FAREWELL_LOOK_MS);
      end.abort();
      await running;
      log.close();
    },
  };
}

/** Of a link to another machine without one. */
export const NO_TOKEN = [
  'A link to another machine needs the token of the clade',
  { code: 'no-token', fix: 'Let a variable hold it: talaria styx link URL --token-from NAME' },
] as const;

function checkedToken({ variables }: Ground, { url, plain, token_from: name }: StyxSettings): string | undefined {
  if (isOpenWay(checkedUrl(url)) && plain !== url)
    throw new TalariaError(`What travels to ${url} can be read on the way`, {
      ...{ code: 'open-way', fix: `Use tls:// or wss://, or allow it: talaria styx link ${url}` },
    });
  if (name === '' && isNear(checkedUrl(url))) return undefined;
  if (name === '') throw new TalariaError(...NO_TOKEN);
  const token = variables[name];
  if (token) return token;
  const fix = `Put ${name}=… into .env of the home, or export it.`;
  throw new TalariaError(`${name} is not set, and it should hold the token of the clade`, { code: 'no-token', fix });
}

/** Held by the process that carries rows. */
export function linkLock(home: string): string {
  return join(home, 'meta', 'link.lock');
}

/** As the process that carries rows said; none does: what the last one said of an error stands. */
export function standingLink(home: string, log: StyxTransport): LinkState | undefined {
  const note = log.note(STATE_NOTE);
  if (!isJsonObject(note)) return undefined;
  const state = note as unknown as LinkState;
  const holder = readIfThere(linkLock(home));
  if (holder !== undefined && holderState(holder) !== 'gone') return state;
  const { fix = '', ...rest } = state;
  const left = fix.replace(AGAIN, '').trim();
  return { ...rest, ...(left ? { fix: left } : {}), state: 'off', isCurrent: false };
}

/** One process of a home at a time; the next one takes over. */
async function whileHeld({ places, clock }: Ground, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  const lock = linkLock(places.home);
  while (!signal.aborted) {
    try {
      await withFileLock(lock, work, { waitMs: 0 });
    } catch (error) {
      if (errorCode(error) !== 'locked' || !errorText(error).startsWith(lock)) throw error;
      await clock.sleep(LEASE_MS, signal).catch(() => undefined);
    }
  }
}

/** One line of a change of the link. */
export function linkLine({ state, url, error, fix }: LinkState): string {
  // Of a new try nothing is known yet; an error of the wire begins with the address.
  const told = state === 'connecting' ? '' : (error?.replace(`${url}: `, '') ?? '');
  const why = told ? `: ${told}${fix ? ` (${fix})` : ''}` : '';
  return `link ${state} ${url}${why}`;
}
