// Owns the handle under which a stored message is cited: `message:123`. Knows no store.

export function messageHandle(id: number): string {
  return `message:${id}`;
}

/** The id in a handle of a message; undefined for anything else. */
export function messageIdOf(handle: string): number | undefined {
  const digits = /^message:([1-9]\d{0,15})$/.exec(handle)?.[1];
  return digits === undefined || !Number.isSafeInteger(Number(digits)) ? undefined : Number(digits);
}
