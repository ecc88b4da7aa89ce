// Owns the ids of people: the protocol's `@name:server`, the opaque `name@server` above this layer, and the name (seed 004, data model).
// Pure. Invariant: `userIdOf(opaqueId(x)) === x` for every id that `isUserId` takes.

const MAX_CHARACTERS = 255;

/** `@name:server`, server with or without a port; no blanks and no control characters, whatever a server may say. */
export function isUserId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_CHARACTERS && /^@[^:\s\p{Cc}]+:[^@\s\p{Cc}]+$/u.test(value);
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
