// Owns shell-style patterns for names (curator notes 8.4): `*`, `?`, `[abc]`, `[!abc]`, nothing else. Pure.
// Invariant: linear in the name for each star (two pointers, no backtracking expression); an unclosed bracket is a plain character.
import { caseFold } from '#base/text/case-fold.ts';

type Step = '*' | ((point: string) => boolean);

/** Whether the whole name fits, both case-folded. */
export function matchesGlob(name: string, pattern: string): boolean {
  return runSteps(Array.from(caseFold(name)), stepsOf(Array.from(caseFold(pattern))));
}

function runSteps(points: readonly string[], steps: readonly Step[]): boolean {
  let at = 0;
  let step = 0;
  let starAt = -1;
  let starStep = -1;
  while (at < points.length) {
    const current = steps[step];
    if (current === '*') {
      starStep = step;
      starAt = at;
      step += 1;
    } else if (current?.(points[at] ?? '')) {
      at += 1;
      step += 1;
    } else if (starStep >= 0) {
      starAt += 1;
      at = starAt;
      step = starStep + 1;
    } else return false;
  }
  return steps.slice(step).every((rest) => rest === '*');
}

function stepsOf(pattern: readonly string[]): readonly Step[] {
  const steps: Step[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const point = pattern[at] ?? '';
    const close = point === '[' ? closingBracket(pattern, at) : -1;
    if (close > 0) {
      steps.push(setStep(pattern.slice(at + 1, close)));
      at = close;
    } else steps.push(plainStep(point));
  }
  return steps;
}

function plainStep(point: string): Step {
  if (point === '*') return '*';
  return point === '?' ? () => true : (other) => other === point;
}

/** A bracket right after `[` or `[!` belongs to the set. */
function closingBracket(pattern: readonly string[], open: number): number {
  const first = pattern[open + 1] === '!' ? open + 2 : open + 1;
  return pattern.indexOf(']', pattern[first] === ']' ? first + 1 : first);
}

function setStep(set: readonly string[]): Step {
  const negated = set[0] === '!';
  const members = negated ? set.slice(1) : set;
  return (point) => holds(members, point) !== negated;
}

function holds(members: readonly string[], point: string): boolean {
  for (let at = 0; at < members.length; at += 1) {
    const low = members[at] ?? '';
    const isRange = members[at + 1] === '-' && at + 2 < members.length;
    const high = isRange ? (members[at + 2] ?? '') : low;
    if (order(point) >= order(low) && order(point) <= order(high)) return true;
    if (isRange) at += 2;
  }
  return false;
}

function order(point: string): number {
  return point.codePointAt(0) ?? 0;
}
