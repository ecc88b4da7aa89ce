// Owns the one spelling under which all forms of a word are indexed and asked for: irregular forms first, then Porter's rules.
import { irregularForms } from './irregular-forms.ts';
import { porterStem } from './porter-stem.ts';

/** Stems of words seen so far; emptied when it grows past any vocabulary. */
const seen = new Map<string, string>();
const LARGEST = 200_000;

/** Stem of one lower-case word. */
export function stemWord(word: string): string {
  const known = seen.get(word);
  if (known !== undefined) return known;
  const stem = porterStem(irregularForms.get(word) ?? word);
  if (seen.size >= LARGEST) seen.clear();
  seen.set(word, stem);
  return stem;
}
