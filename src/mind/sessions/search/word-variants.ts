// Owns finding other spellings of a word among the words that the index really holds: longer and shorter forms that the stemmer keeps
// apart, and, for a word that nobody ever wrote, those one or two typing errors away. Invariant: bounded work for any vocabulary.
import type { LaneStatistics, SearchLane } from './search-lane.ts';

export interface WordVariants {
  readonly kind: 'form' | 'typo';
  readonly stems: readonly string[];
}

const SHORTEST = 4;
/** Letters by which two forms of a word may differ in length. */
const LONGEST_ENDING = 3;
const MOST_FORMS = 12;
const MOST_COMPARED = 20_000;
const MOST_TYPOS = 4;
/** From this length on two errors are forgiven. */
const LONG_WORD = 8;

export function wordVariants(lane: SearchLane, stem: string, statistics: LaneStatistics): WordVariants {
  if (stem.length < SHORTEST || !/^\p{L}+$/u.test(stem)) return { kind: 'form', stems: [] };
  const forms = otherForms(lane, stem, statistics);
  if (statistics.rowsWith(stem) > 0 || forms.length > 0) return { kind: 'form', stems: forms };
  return { kind: 'typo', stems: nearSpellings(lane, stem) };
}

function otherForms(lane: SearchLane, stem: string, statistics: LaneStatistics): readonly string[] {
  const longer = lane
    .wordsFrom(stem, 200)
    .filter(({ word }) => word !== stem && word.length <= stem.length + LONGEST_ENDING)
    .sort((a, b) => b.rows - a.rows)
    .slice(0, MOST_FORMS)
    .map(({ word }) => word);
  const shorter: string[] = [];
  for (let length = stem.length - 1; length >= Math.max(SHORTEST, stem.length - LONGEST_ENDING); length -= 1) {
    const word = stem.slice(0, length);
    if (statistics.rowsWith(word) > 0) shorter.push(word);
  }
  return [...longer, ...shorter];
}

/** Words with the same first letter, or the first two letters swapped. */
function nearSpellings(lane: SearchLane, stem: string): readonly string[] {
  const allowed = stem.length >= LONG_WORD ? 2 : 1;
  const found: { readonly word: string; readonly rows: number; readonly errors: number }[] = [];
  for (const start of new Set([stem.slice(0, 1), stem.slice(1, 2)])) {
    for (const { word, rows } of lane.wordsFrom(start, MOST_COMPARED)) {
      if (Math.abs(word.length - stem.length) > allowed) continue;
      const errors = typingErrors(stem, word, allowed);
      if (errors <= allowed) found.push({ word, rows, errors });
    }
  }
  found.sort((a, b) => a.errors - b.errors || b.rows - a.rows);
  return found.slice(0, MOST_TYPOS).map(({ word }) => word);
}

/** Insertions, deletions, replacements and swaps of neighbours between two words; stops counting past `most`. */
export function typingErrors(left: string, right: string, most: number): number {
  if (Math.abs(left.length - right.length) > most) return most + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let row = 1; row <= left.length; row += 1) {
    const current = nextRow({ left, right, row, last, beforeLast });
    if (Math.min(...current) > most) return most + 1;
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? most + 1;
}

interface DistanceRow {
  readonly left: string;
  readonly right: string;
  readonly row: number;
  readonly last: readonly number[];
  readonly beforeLast: readonly number[];
}

function nextRow({ left, right, row, last, beforeLast }: DistanceRow): number[] {
  const current = [row];
  for (let at = 1; at <= right.length; at += 1) {
    const same = left[row - 1] === right[at - 1];
    const replaced = (last[at - 1] ?? 0) + (same ? 0 : 1);
    let best = Math.min(replaced, (last[at] ?? 0) + 1, (current[at - 1] ?? 0) + 1);
    const swapped = row > 1 && at > 1 && left[row - 1] === right[at - 2] && left[row - 2] === right[at - 1];
    if (swapped) best = Math.min(best, (beforeLast[at - 2] ?? 0) + 1);
    current.push(best);
  }
  return current;
}
