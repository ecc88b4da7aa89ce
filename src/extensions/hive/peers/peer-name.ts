// Owns how a name is read from an opaque id (seed 004, data model). Knows no protocol; the form of an id is the transports' business.

/** What stands before the last `@`: `hermes-of-carol` of `hermes-of-carol@localhost`. */
export function peerName(id: string): string {
  const at = id.lastIndexOf('@');
  return at > 0 ? id.slice(0, at) : id;
}
