// Owns noticing that a small model has fallen into a loop. Pure.

const LONGEST_CYCLE = 48;
const TIMES = 5;
/** Short cycles must go on for longer: rulers, tables and zeros are legal. */
const LEAST = 60;

/** Do the last tokens repeat one cycle over and over? Looks at the end only, so that it costs the same at any length. */
export function repeatsItself(tokens: readonly number[]): boolean {
  for (let cycle = 1; cycle <= LONGEST_CYCLE; cycle += 1) {
    const needed = Math.max(LEAST, cycle * TIMES);
    if (tokens.length >= needed && hasPeriod(tokens, cycle, needed)) return true;
  }
  return false;
}

function hasPeriod(tokens: readonly number[], cycle: number, length: number): boolean {
  const end = tokens.length;
  for (let at = end - 1; at >= end - length + cycle; at -= 1) if (tokens[at] !== tokens[at - cycle]) return false;
  return true;
}
