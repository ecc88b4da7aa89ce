// Owns whether one text of a source says one term of a claim. Knows no verdict. Invariant: pure; more text never says less.
import type { ExactTerm, SoftWord } from './read-claim.ts';
import type { EvidenceReading } from './read-evidence.ts';

/** Numbers, identifiers, names. */
export function says({ exact, words, stems, bentWords }: EvidenceReading, term: ExactTerm): boolean {
  if (term.keys.some((key) => exact.has(key))) return true;
  if (term.word !== undefined && words.has(term.word)) return true;
  if (term.bent?.some((word) => bentWords.has(word))) return true;
  return term.stems !== undefined && term.stems.length > 0 && term.stems.every((stem) => stems.has(stem));
}

/** Other content words. */
export function saysLoosely({ stems, beginnings }: EvidenceReading, soft: SoftWord): boolean {
  return soft.stems.some((stem) => stems.has(stem)) || soft.beginnings.some((begin) => beginnings.has(begin));
}
