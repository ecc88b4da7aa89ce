// Owns the cutting of a line into clauses. Knows no word: what joins clauses comes with the language.
// Invariant: no cut inside a quotation, a path or a number.
import { maskQuotes } from './mask-quotes.ts';

/** Offsets of one clause. */
export interface Clause {
  readonly start: number;
  readonly end: number;
}

export function splitClauses(text: string, breaks: RegExp): readonly Clause[] {
  const clauses: Clause[] = [];
  let from = 0;
  for (const found of maskQuotes(text).matchAll(breaks)) {
    clauses.push({ start: from, end: found.index + (/^[.!?;:…]/.test(found[0]) ? found[0].trimEnd().length : 0) });
    from = found.index + found[0].length;
  }
  const ink = /[\p{L}\p{N}`$]/u;
  return [...clauses, { start: from, end: text.length }].filter(({ start, end }) => ink.test(text.slice(start, end)));
}
