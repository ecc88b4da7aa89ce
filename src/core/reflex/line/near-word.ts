// Owns tolerance for typing errors in command words. Knows no word list: the caller says which words are never an error.
// Invariant: two words that differ in their first letter are near only when their first two letters changed places.

const known = new Map<string, number>();
const MAX_KNOWN = 50_000;

/** How well `typed` stands for `wanted`: 1 the same, 0.92 one slip, 0.86 two, 0 no relation. */
export function nearWord(typed: string, wanted: string): number {
  if (typed === wanted) return 1;
  const allowed = slipsAllowed(wanted.length);
  if (allowed === 0 || Math.abs(typed.length - wanted.length) > allowed || !sameStart(typed, wanted)) return 0;
  const key = `${typed} ${wanted}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  if (known.size >= MAX_KNOWN) known.clear();
  const near = compare(typed, wanted, allowed);
  known.set(key, near);
  return near;
}

function compare(typed: string, wanted: string, allowed: number): number {
  if (wanted.length === 3) return isSwapOrDouble(typed, wanted) ? 0.92 : 0;
  if (isInflection(typed, wanted)) return 0;
  const slips = distance(typed, wanted);
  if (slips > allowed) return 0;
  return slips === 1 ? 0.92 : 0.86;
}

function slipsAllowed(length: number): number {
  if (length < 3) return 0;
  return length < 8 ? 1 : 2;
}

/** `lists`, `listed`, `runner` are words of their own, not slips of `list` and `run`. */
function isInflection(typed: string, wanted: string): boolean {
  return [typed, wanted].some((longer, index) => {
    const shorter = index === 0 ? wanted : typed;
    return (
      longer.startsWith(shorter.replace(/e$/, '')) &&
      /^e?(s|es|d|ed|er|ers|ing|n|y|ly)$/.test(longer.slice(shorter.replace(/e$/, '').length))
    );
  });
}

function sameStart(typed: string, wanted: string): boolean {
  return typed[0] === wanted[0] || (typed[0] === wanted[1] && typed[1] === wanted[0]);
}

function isSwapOrDouble(typed: string, wanted: string): boolean {
  if (typed.length === wanted.length)
    return distance(typed, wanted) === 1 && [...typed].sort().join('') === [...wanted].sort().join('');
  return typed.length === wanted.length + 1 && typed.replace(/(.)\1/, '$1') === wanted;
}

/** Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours. */
function distance(left: string, right: string): number {
  let before: number[] = [];
  let above = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      current.push(cell({ left, right, row, column }, { before, above, current }));
    }
    before = above;
    above = current;
  }
  return above[right.length] ?? 0;
}

interface Place {
  readonly left: string;
  readonly right: string;
  readonly row: number;
  readonly column: number;
}

interface Rows {
  readonly before: readonly number[];
  readonly above: readonly number[];
  readonly current: readonly number[];
}

function cell(place: Place, rows: Rows): number {
  const { left, right, row, column } = place;
  const cost = left[row - 1] === right[column - 1] ? 0 : 1;
  const plain = Math.min(
    (rows.above[column] ?? 0) + 1,
    (rows.current[column - 1] ?? 0) + 1,
    (rows.above[column - 1] ?? 0) + cost,
  );
  const swapped = row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
  return swapped ? Math.min(plain, (rows.before[column - 2] ?? 0) + 1) : plain;
}
