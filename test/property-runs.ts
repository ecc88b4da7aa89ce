// Owns how often a property is tried: a quarter of its full count in `npm test`, all of it in `npm run test:deep`
// (test/deep/properties.test.ts loads the same files). Knows no property.
let share = 4;

/** For files that are loaded afterwards. */
export function tryAll(): void {
  share = 1;
}

/** Counts, sizes or strides of a test: `full` in a deep run. */
export function runs(full: number): number {
  return Math.ceil(full / share);
}

/** Every one in a deep run, every fourth else. */
export function stride(): number {
  return share;
}
