// Owns how often a property is tried: a sixteenth of its full count in `npm test`, all of it in `npm run test:deep`
// (test/deep/properties.test.ts loads the same files). Knows no property.
let share = 16;

/** For files that are loaded afterwards. */
export function tryAll(): void {
  share = 1;
}

/** Counts and sizes of a test: `full` in a deep run. */
export function runs(full: number): number {
  return Math.ceil(full / share);
}

/** Which points are tried: each in a deep run, every `wide`-th else. */
export function stride(wide = share): number {
  return share === 1 ? 1 : wide;
}

/** `full` in a deep run, else `few`. */
export function many(full: number, few: number): number {
  return share === 1 ? full : few;
}
