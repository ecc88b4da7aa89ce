// Owns the walls around commands as config.yaml has them: composing and naming them, and which values of sandbox.hosts and sandbox.paths can never
// open anything. Knows no tool. Invariant: nothing is asked of the machine before the first look at their state.
import { isIP } from 'node:net';
import { posix } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { isJsonObject, type JsonValue } from '#base/json.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { realPath } from '#core/tools/files/file-access.ts';
import { isWithin } from '#core/tools/risk/place.ts';
import { createWalls } from '#core/tools/walls/create-walls.ts';
import type { WallState, Walls } from '#core/tools/walls/walls.ts';
import type { Environment } from './environment.ts';
import type { Config } from './home/config-schema.ts';
import { type Home, outermost } from './home/home.ts';

/** Why nothing will ever match it; undefined: something may. */
export function hopelessHost(host: string): string | undefined {
  if (host.includes('://'))
    return `${host}: a host is a name without a scheme, such as example.com or example.com:8080`;
  if (host.includes('/')) return `${host}: a host is a name without a path`;
  const name = host.replace(/^\*\./, '').replace(/:\d{1,5}$/, '');
  const isName = /^[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*\.?$/u.test(name);
  const isAddress = isIP(host) !== 0 || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
  if (!isName && !isAddress) return `${host}: it takes \`name\`, \`name:port\` or \`*.name\``;
  const port = isIP(host) === 0 ? Number(/:(\d{1,5})$/.exec(host)?.[1] ?? 1) : 1;
  return port >= 1 && port <= 65_535 ? undefined : `${host}: a port is a number from 1 to 65535`;
}

interface Ground {
  readonly environment: { readonly userHome: string };
  readonly home: { readonly root: string };
}

/** Of this user and of others. */
const HOMES = /^(?:~|\/root|\/(?:home|Users)(?:\/[^/]+)?)\/$/;

/** Why it opens nothing, or would open everything. */
export function hopelessPath(path: string, { environment: { userHome }, home }: Ground): string | undefined {
  const folder = path.replace(/:ro$/, '');
  if (!/^~?\/|^~$/.test(folder)) return `${path}: a path begins with / or ~/`;
  if (posix.resolve(folder) === '/') return `${path}: the whole machine is no folder to open`;
  if (folder === path && HOMES.test(posix.normalize(`${folder}/`)))
    return `${path}: a home as a whole is not opened for writing; name a folder in it, or end it with :ro`;
  const real = realPath(typedPath(folder, { cwd: '/', userHome }));
  return isWithin(real, realPath(home.root)) ? `${path}: no command is shown the agent's own home` : undefined;
}

/** What is wrong with a value that is about to be set, and where. */
export function hopelessSetting(key: string, value: JsonValue, ground: Ground): string | undefined {
  if (key === 'sandbox' && isJsonObject(value))
    return ['hosts', 'paths']
      .map((name) => hopelessSetting(`sandbox.${name}`, value[name] ?? null, ground))
      .find(Boolean);
  const judge = { 'sandbox.hosts': hopelessHost, 'sandbox.paths': hopelessPath }[key];
  if (judge && typeof value === 'string')
    return `${key} takes a list: talaria config set ${key} '${JSON.stringify(value.match(/[^\s,'"[\]]+/g) ?? [])}'`;
  if (!judge || !Array.isArray(value)) return undefined;
  const wrong = value.map((one) => (typeof one === 'string' ? judge(one, ground) : undefined));
  const at = wrong.findIndex((why) => why !== undefined);
  return at < 0 ? undefined : `${key}.${at}: ${wrong[at]}`;
}

export interface WallGround {
  readonly home: Home;
  readonly environment: Environment;
  readonly clock: Clock;
}

export function composeWalls({ sandbox }: Pick<Config, 'sandbox'>, { home, environment, clock }: WallGround): Walls {
  const { mode, paths, hosts } = sandbox;
  const { variables: env, userHome, cwd } = environment;
  const shared = paths.filter((path) => !path.endsWith(':ro')).map((path) => typedPath(path, { cwd: '/', userHome }));
  const programs = { written: [cwd, ...shared] };
  return createWalls({ mode, paths, hosts, env, userHome, dataHome: outermost(home.root), clock, programs });
}

/** In one line what keeps commands in, or what would. */
export function wallsLine({ kind, detail, fix }: WallState): string {
  if (kind === 'walls') return `commands stay in this folder (${detail}); the network is asked for`;
  if (kind === 'machine') return `none: commands run as you do (${detail})`;
  return `none (${detail}): you are asked before every command that does more than read${fix === undefined ? '' : `; ${fix}`}`;
}
