// Owns the difference of two texts as unified lines. Pure. Invariant: taking the lines with `-` out and the ones with `+` in turns the
// old text into the new one; very different texts are shown as gone and come as a whole, never slowly.

interface Edit {
  readonly sign: ' ' | '-' | '+';
  readonly line: string;
}

const CONTEXT = 3;
/** Edits looked for before the middle is given up as one replaced block. */
const MAX_EDITS = 1_500;

/** Empty for equal texts; else `@@ … @@` hunks, each line ended. */
export function textDiff(before: string, after: string): string {
  if (before === after) return '';
  return hunksOf(editsBetween(linesOf(before), linesOf(after)));
}

/** A last line without a line end differs from one with it. */
function linesOf(text: string): readonly string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  const last = lines.pop();
  return last === '' || last === undefined ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}

function editsBetween(a: readonly string[], b: readonly string[]): readonly Edit[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail])
    tail += 1;
  const same = (lines: readonly string[]): readonly Edit[] => lines.map((line) => ({ sign: ' ', line }));
  return [
    ...same(a.slice(0, head)),
    ...middleEdits(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...same(a.slice(a.length - tail)),
  ];
}

/** Myers: the furthest reach on every diagonal, edit by edit, then the way back. */
function middleEdits(a: readonly string[], b: readonly string[]): readonly Edit[] {
  const reach = new Map<number, number>([[1, 0]]);
  const trace: ReadonlyMap<number, number>[] = [];
  for (let edits = 0; edits <= Math.min(a.length + b.length, MAX_EDITS); edits += 1) {
    trace.push(new Map(reach));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = stepFrom(reach, diagonal, edits);
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x += 1;
      reach.set(diagonal, x);
      if (x >= a.length && x - diagonal >= b.length) return wayBack(trace, a, b);
    }
  }
  return [...a.map((line) => ({ sign: '-', line }) as const), ...b.map((line) => ({ sign: '+', line }) as const)];
}

function stepFrom(reach: ReadonlyMap<number, number>, diagonal: number, edits: number): number {
  return isDown(reach, diagonal, edits) ? (reach.get(diagonal + 1) ?? 0) : (reach.get(diagonal - 1) ?? 0) + 1;
}

function isDown(reach: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean {
  if (diagonal === -edits) return true;
  return diagonal !== edits && (reach.get(diagonal - 1) ?? 0) < (reach.get(diagonal + 1) ?? 0);
}

function wayBack(
  trace: readonly ReadonlyMap<number, number>[],
  a: readonly string[],
  b: readonly string[],
): readonly Edit[] {
  const out: Edit[] = [];
  let at = { x: a.length, y: b.length };
  for (let edits = trace.length - 1; edits > 0; edits -= 1) {
    const from = cameFrom(trace[edits] ?? new Map(), at.x - at.y, edits);
    out.push(...sameLines(a, from.x + (from.down ? 0 : 1), at.x));
    out.push(from.down ? { sign: '+', line: b[from.y] ?? '' } : { sign: '-', line: a[from.x] ?? '' });
    at = from;
  }
  out.push(...sameLines(a, 0, at.x));
  return out.reverse();
}

/** Where the last edit on the way to a diagonal began. */
function cameFrom(
  reach: ReadonlyMap<number, number>,
  diagonal: number,
  edits: number,
): { readonly x: number; readonly y: number; readonly down: boolean } {
  const down = isDown(reach, diagonal, edits);
  const from = diagonal + (down ? 1 : -1);
  const x = reach.get(from) ?? 0;
  return { x, y: x - from, down };
}

/** Newest first, as the way back goes. */
function sameLines(a: readonly string[], from: number, to: number): readonly Edit[] {
  return a
    .slice(from, to)
    .reverse()
    .map((line) => ({ sign: ' ', line }));
}

function hunksOf(edits: readonly Edit[]): string {
  const near = edits.map((_, at) =>
    edits.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ sign }) => sign !== ' '),
  );
  let out = '';
  let oldLine = 1;
  let newLine = 1;
  for (const [at, { sign, line }] of edits.entries()) {
    if (near[at] && !near[at - 1]) out += header(edits, near, { at, oldLine, newLine });
    if (near[at]) out += `${sign}${line}\n`;
    if (sign !== '+') oldLine += 1;
    if (sign !== '-') newLine += 1;
  }
  return out;
}

function header(
  edits: readonly Edit[],
  near: readonly boolean[],
  { at, oldLine, newLine }: { readonly at: number; readonly oldLine: number; readonly newLine: number },
): string {
  const end = near.indexOf(false, at);
  const hunk = edits.slice(at, end < 0 ? edits.length : end);
  const olds = hunk.filter(({ sign }) => sign !== '+').length;
  const news = hunk.filter(({ sign }) => sign !== '-').length;
  return `@@ -${olds === 0 ? oldLine - 1 : oldLine},${olds} +${news === 0 ? newLine - 1 : newLine},${news} @@\n`;
}
