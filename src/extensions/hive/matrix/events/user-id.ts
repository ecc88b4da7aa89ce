// Owns the ids of people: the protocol's `@name:server`, the opaque `name@server` above this layer, and the name (seed 004, data model).
// Pure. Invariant: `userIdOf(opaqueId(x)) === x` for every id that `isUserId` takes.

import { isIPv6 } from 'node:net';

const MAX_CHARACTERS = 255;
const MAX_PORT = 65_535;
const USER_ID = /^@[^:\s\p{Cc}]+:(?<host>[A-Za-z0-9.-]+|\[[^\s\]]+\])(?::(?<port>\d{1,5}))?$/u;

/**
 * `@name:server`; no blanks and no control characters, whatever a server may say. The server is what the protocol takes for one, and so the
 * encryption, which does nothing for a whole room when one of its members has another: a host name or an address, with or without a port.
 */
export function isUserId(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_CHARACTERS || !value.isWellFormed()) return false;
  const { host = '', port = '0' } = USER_ID.exec(value)?.groups ?? {};
  if (Number(port) > MAX_PORT) return false;
  return host.startsWith('[') ? isIPv6(host.slice(1, -1)) && !host.includes('%') : host !== '';
}

/** `@carol:localhost:8448` becomes `carol@localhost:8448`. */
export function opaqueId(userId: string): string {
  return userId.slice(1).replace(':', '@');
}

/** The reverse; undefined when `id` is no id of a person. */
export function userIdOf(id: string): string | undefined {
  const at = id.lastIndexOf('@');
  const userId = `@${id.slice(0, Math.max(0, at))}:${id.slice(at + 1)}`;
  return isUserId(userId) && opaqueId(userId) === id ? userId : undefined;
}

/** The part before the server. */
export function nameOf(userId: string): string {
  return userId.slice(1, userId.indexOf(':'));
}
