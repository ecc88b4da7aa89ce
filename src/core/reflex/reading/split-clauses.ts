// Owns the cutting of a line into clauses. Knows no word but the few that join clauses.
// Invariant: no cut inside a quotation, a path or a number.
import { maskQuotes } from './mask-quotes.ts';

const BREAK =
  /[.!?;:…]+(?=\s|$)\s*|,\s+(?:(?:so|and|then|and then|but|because|cos|cause)\s+)?|\s+[-–—]+\s+|\s*\n\s*|\s+(?:so|then|and then)\s+(?=(?:please|pls|can|could|would|run|show|open|read|find|list|search|remember|forget|save)\b)/gi;

/** Offsets of one clause. */
export interface Clause {
  readonly start: number;
  readonly end: number;
}

export function splitClauses(text: string): readonly Clause[] {
  const clauses: Clause[] = [];
  let from = 0;
  for (const found of maskQuotes(text).matchAll(BREAK)) {
    clauses.push({ start: from, end: found.index + (/^[.!?;:…]/.test(found[0]) ? found[0].trimEnd().length : 0) });
    from = found.index + found[0].length;
  }
  const ink = /[\p{L}\p{N}\u0060$]/u;
  return [...clauses, { start: from, end: text.length }].filter(({ start, end }) => ink.test(text.slice(start, end)));
}
