// Owns the finding of the entries that a phrase means: shared words, word forms and small slips allowed.
// Invariant: pure; an entry that shares no word with the phrase is never found.
import { nearWord } from '#core/reflex/line/near-word.ts';
import type { KeptEntry } from './kept-entries.ts';

const SMALL = new Set(
  'the a an and or but of to in on at by for from with is are was were be been am do does did has have had i me my mine we our us you your it its this that these those he she his her they their what which who when where how about not no now any all some there than then so as if will would can could should like just also please name thing things said told'.split(
    ' ',
  ),
);

/** 0 to 1: the share of the phrase's words that the entry holds. */
export function overlap(phrase: string, entry: string): number {
  const wanted = wordsOf(phrase);
  if (wanted.length === 0) return 0;
  const own = wordsOf(entry);
  return wanted.filter((word) => own.some((other) => sameWord(word, other))).length / wanted.length;
}

/** Any word of more than three letters that both hold, small ones too. */
export function sharesWord(phrase: string, entry: string): boolean {
  const own = longWords(entry);
  return longWords(phrase).some((word) => own.some((other) => sameWord(word, other)));
}

function longWords(text: string): readonly string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 3);
}

/** Entries with at least half of the words, best first. */
export function matchEntries(phrase: string, entries: readonly KeptEntry[]): readonly KeptEntry[] {
  const exact = entries.filter((entry) => entry.text.toLowerCase().includes(phrase.toLowerCase().trim()));
  if (exact.length > 0) return exact;
  const rated = entries
    .map((entry) => ({ entry, score: overlap(phrase, entry.text) }))
    .filter(({ score }) => score >= 0.5);
  return rated.sort((left, right) => right.score - left.score).map(({ entry }) => entry);
}

/** The one entry that stands clear of the others, or undefined. */
export function clearMatch(phrase: string, entries: readonly KeptEntry[]): KeptEntry | undefined {
  const found = matchEntries(phrase, entries);
  const [first, second] = found;
  if (first === undefined || second === undefined) return first;
  return overlap(phrase, first.text) > overlap(phrase, second.text) ? first : undefined;
}

function wordsOf(text: string): readonly string[] {
  return text
    .toLowerCase()
    .replaceAll("'s", '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1 && !SMALL.has(word));
}

function sameWord(left: string, right: string): boolean {
  return stem(left) === stem(right) || (left.length > 3 && nearWord(left, right) > 0);
}

function stem(word: string): string {
  const bare = word.replace(/(ies)$/, 'y').replace(/(ing|ed|es|s|e)$/, '');
  return bare.length > 2 ? bare.replace(/(.)\1$/, '$1') : word;
}
