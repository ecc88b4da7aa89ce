// Owns comparing text without regard to case. Pure. There is no case folding in the platform; this is Unicode's
// full folding: lower case, but for Cherokee, which folds to its capitals.

export function caseFold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return Array.from(text, foldPoint).join('');
}

/** Most texts, at a hundredth of the price. */
const ASCII = /^\p{ASCII}*$/u;

const CHEROKEE = /\p{Script=Cherokee}/u;

function foldPoint(point: string): string {
  if (point === 'ı') return point;
  if (CHEROKEE.test(point)) return point.toUpperCase();
  const folded = point === 'İ' ? 'i\u0307' : point.toLowerCase().toUpperCase().toLowerCase();
  return folded.replaceAll('ς', 'σ');
}
