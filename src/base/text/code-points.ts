// Owns lengths, cuts, order and case of text in code points, as the original's language has them. Pure.
// Invariant: a cut never ends in half a character; the order is that of code points, not of UTF-16 units.

/** Number of code points; a lone surrogate counts as one. */
export function codeLength(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length - 1; at += 1) {
    if (isHigh(text.charCodeAt(at)) && isLow(text.charCodeAt(at + 1))) {
      pairs += 1;
      at += 1;
    }
  }
  return text.length - pairs;
}

/** First `count` code points. */
export function firstPoints(text: string, count: number): string {
  if (text.length <= count) return text;
  return Array.from(text.slice(0, count * 2))
    .slice(0, Math.max(0, count))
    .join('');
}

/** At most `limit` code points; what is cut ends with one ellipsis character. */
export function cutPoints(text: string, limit: number): string {
  if (text.length <= limit || codeLength(text) <= limit) return text;
  return `${firstPoints(text, limit - 1)}…`;
}

/** For sorting: by code points, as text compares in the original's language. */
export function comparePoints(left: string, right: string): number {
  const shared = Math.min(left.length, right.length);
  for (let at = 0; at < shared; at += 1) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

/** Surrogates stand for characters beyond every single unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

const ASCII = /^\p{ASCII}*$/u;
const CHEROKEE = /\p{Script=Cherokee}/u;

/** Unicode's full case folding, which the platform has not: lower case, but for Cherokee, which folds to its capitals. */
export function caseFold(text: string): string {
  return ASCII.test(text) ? text.toLowerCase() : Array.from(text, foldPoint).join('');
}

function foldPoint(point: string): string {
  if (point === 'ı') return point;
  if (CHEROKEE.test(point)) return point.toUpperCase();
  const folded = point === 'İ' ? 'i\u0307' : point.toLowerCase().toUpperCase().toLowerCase();
  return folded.replaceAll('ς', 'σ');
}
