// Owns what a typed user means: `@name:server`, `name@server` as peers are shown, or the name alone. Pure.
import { ok, type Result, refuse } from '#base/result.ts';

export interface TypedUser {
  readonly name: string;
  /** Absent: the server that is signed in to knows. */
  readonly server?: string;
}

const WHOLE = /^@([^:\s@]+):([^\s/@]+)$/;
const SHOWN = /^([^:\s@]+)@([^\s/@]+)$/;
const ALONE = /^@?([^:\s@]+)$/;

export function readUser(typed: string): Result<TypedUser, 'user-invalid'> {
  const text = typed.trim();
  const [, name, server] = WHOLE.exec(text) ?? SHOWN.exec(text) ?? ALONE.exec(text) ?? [];
  if (name === undefined) return refuse('user-invalid', `${text === '' ? 'nothing' : text} is no user of a server`);
  return ok(server === undefined ? { name } : { name, server });
}

/** Do both mean one user? `userId`: `@name:server`. Servers write names and themselves in small letters. */
export function isUser({ name, server }: TypedUser, userId: string): boolean {
  const wanted = `@${name}:${server ?? ''}`.toLowerCase();
  const given = userId.toLowerCase();
  return server === undefined ? given.startsWith(wanted) : given === wanted;
}
