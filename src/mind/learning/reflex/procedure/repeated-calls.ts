// Owns noticing that the same calls were made again (reflex 5: the third time a skill is offered). Pure.
// Invariant: what is given back was made at least three times without overlapping, most recently at the very end.
import type { DoneCall } from '../../counters/done-calls.ts';
import { keyOf } from './trace.ts';

const TIMES = 3;
const SHORTEST = 2;
const LONGEST = 12;

/** The longest run of calls at the end that occurs three times or more; undefined when there is none. */
export function repeatedCalls(calls: readonly DoneCall[]): readonly DoneCall[] | undefined {
  const keys = calls.map(keyOf);
  for (let size = Math.min(LONGEST, Math.floor(keys.length / TIMES)); size >= SHORTEST; size -= 1) {
    const last = keys.slice(-size);
    if (new Set(last).size > 1 && countRuns(keys, last) >= TIMES) return calls.slice(-size);
  }
  return undefined;
}

function countRuns(keys: readonly string[], run: readonly string[]): number {
  let count = 0;
  for (let at = keys.length - run.length; at >= 0; ) {
    const found = run.every((key, index) => keys[at + index] === key);
    count += found ? 1 : 0;
    at -= found ? run.length : 1;
  }
  return count;
}
