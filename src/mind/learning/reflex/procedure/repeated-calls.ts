// Owns noticing that the same calls were made again: what may become a skill without being named by the owner (reflex 5). Pure.
// Invariant: what is given back was made so often without overlapping.
import type { DoneCall } from '../../counters/done-calls.ts';
import { actWord } from './act-word.ts';
import { keyOf, stepOf } from './trace.ts';

const TIMES = 3;
const SHORTEST = 2;
const LONGEST = 12;

/** The longest run of calls at the end that occurs three times or more; undefined when there is none, or when it is not at its end yet. */
export function repeatedCalls(calls: readonly DoneCall[]): readonly DoneCall[] | undefined {
  const keys = calls.map(keyOf);
  for (let size = Math.min(LONGEST, Math.floor(keys.length / TIMES)); size >= SHORTEST; size -= 1) {
    const last = keys.slice(-size);
    const places = new Set(last).size > 1 ? placesOf(keys, last) : [];
    if (places.length >= TIMES) return goesOn(keys, last, places) ? undefined : calls.slice(-size);
  }
  return undefined;
}

/** The longest run, its newest time, of calls that did the same before: the same commands, or the same program on something else. */
export function repeatedRun(calls: readonly DoneCall[]): readonly DoneCall[] | undefined {
  const keys = calls.map((done) => actWord(stepOf(done)) || keyOf(done));
  for (let size = Math.min(LONGEST, Math.floor(keys.length / 2)); size >= SHORTEST; size -= 1) {
    const at = keys.findLastIndex((_key, start) => isAgain(keys, keys.slice(start, start + size), { start, size }));
    if (at < 0) continue;
    const run = keys.slice(at, at + size);
    const isOpen = at + size === keys.length && goesOn(keys, run, placesOf(keys, run));
    return isOpen ? undefined : calls.slice(at, at + size);
  }
  return undefined;
}

function isAgain(
  keys: readonly string[],
  run: readonly string[],
  at: { readonly start: number; readonly size: number },
) {
  return run.length === at.size && new Set(run).size > 1 && placesOf(keys.slice(0, at.start), run).length > 0;
}

/** Where the run begins, newest first, without overlapping. */
function placesOf(keys: readonly string[], run: readonly string[]): readonly number[] {
  const places: number[] = [];
  for (let at = keys.length - run.length; at >= 0; ) {
    const found = run.every((key, index) => keys[at + index] === key);
    if (found) places.push(at);
    at -= found ? run.length : 1;
  }
  return places;
}

/** Each time before, the same call followed: the owner is in the middle of something longer. */
function goesOn(keys: readonly string[], run: readonly string[], [, ...earlier]: readonly number[]): boolean {
  const next = new Set(earlier.map((at) => keys[at + run.length]));
  return next.size === 1 && !next.has(run[0]);
}
