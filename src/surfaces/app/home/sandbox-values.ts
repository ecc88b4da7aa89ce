// Owns which values of sandbox.hosts and sandbox.paths can never open anything, and why. Knows no file of configuration and no wall.
import { isIP } from 'node:net';
import { posix } from 'node:path';
import { isJsonObject, type JsonValue } from '#base/json.ts';

/** Why nothing will ever match it; undefined: something may. */
export function hopelessHost(host: string): string | undefined {
  if (host.includes('://'))
    return `${host}: a host is a name without a scheme, such as example.com or example.com:8080`;
  if (host.includes('/')) return `${host}: a host is a name without a path`;
  const name = host.replace(/^\*\./, '').replace(/:\d{1,5}$/, '');
  const isName = /^[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*\.?$/u.test(name);
  const isAddress = isIP(host) !== 0 || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
  return isName || isAddress ? undefined : `${host}: it takes \`name\`, \`name:port\` or \`*.name\``;
}

/** Of this user and of others. */
const HOMES = /^(?:~|\/root|\/(?:home|Users)(?:\/[^/]+)?)\/$/;

/** Why it opens nothing, or would open everything. */
export function hopelessPath(path: string): string | undefined {
  const folder = path.replace(/:ro$/, '');
  if (folder === path && HOMES.test(posix.normalize(`${folder}/`)))
    return `${path}: a home as a whole is not opened for writing; name a folder in it, or end it with :ro`;
  if (/^~(?:\/|$)/.test(folder)) return undefined;
  if (!folder.startsWith('/')) return `${path}: a path begins with / or ~/`;
  return posix.resolve(folder) === '/' ? `${path}: the whole machine is no folder to open` : undefined;
}

/** What is wrong with a value that is about to be set. */
export function hopelessSetting(key: string, value: JsonValue): string | undefined {
  if (key === 'sandbox' && isJsonObject(value))
    return ['hosts', 'paths'].map((name) => hopelessSetting(`sandbox.${name}`, value[name] ?? null)).find(Boolean);
  const judge = { 'sandbox.hosts': hopelessHost, 'sandbox.paths': hopelessPath }[key];
  if (!judge || !Array.isArray(value)) return undefined;
  return value.flatMap((one) => (typeof one === 'string' ? (judge(one) ?? []) : []))[0];
}
