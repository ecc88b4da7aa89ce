// Owns the finding of the entries that a phrase means, by shared words and word forms; and which memory file words belong in.
// Invariant: pure; an entry that shares no word with the phrase is never found.
import { stemWord } from '#base/text/stem-word.ts';

interface WithText {
  readonly text: string;
}

const SMALL = new Set(
  'the a an and or but of to in on at by for from with is are was were be been am do does did has have had i me my mine we our us you your it its this that these those he she his her they their what which who when where how about not no now any all some there than then so as if will would can could should like just also please name thing things said told'.split(
    ' ',
  ),
);
const SELF = /\b(?:i|i'm|i’m|i'd|i've|i'll|im|ive|me|my|mine|myself)\b|^(?:always|never|from now on)\b/i;

/** Words in the first person, and how the owner wants to be served, are the owner's profile; everything else is a note. */
export function targetOf(text: string): 'memory' | 'user' {
  return SELF.test(text) ? 'user' : 'memory';
}

/** 0 to 1: the share of the phrase's words that the entry holds. */
export function overlap(phrase: string, entry: string): number {
  const wanted = stemsOf(phrase);
  const own = new Set(stemsOf(entry));
  return wanted.length === 0 ? 0 : wanted.filter((stem) => own.has(stem)).length / wanted.length;
}

/** Entries with at least half of the words, best first. */
export function matchEntries<Entry extends WithText>(phrase: string, entries: readonly Entry[]): readonly Entry[] {
  const exact = entries.filter((entry) => entry.text.toLowerCase().includes(phrase.toLowerCase().trim()));
  if (exact.length > 0) return exact;
  const rated = entries
    .map((entry) => ({ entry, score: overlap(phrase, entry.text) }))
    .filter(({ score }) => score >= 0.5);
  return rated.sort((left, right) => right.score - left.score).map(({ entry }) => entry);
}

/** The one entry that stands clear of the others, or undefined. */
export function clearMatch<Entry extends WithText>(phrase: string, entries: readonly Entry[]): Entry | undefined {
  const [first, second] = matchEntries(phrase, entries);
  if (first === undefined || second === undefined) return first;
  return overlap(phrase, first.text) > overlap(phrase, second.text) ? first : undefined;
}

function stemsOf(text: string): readonly string[] {
  const words = text
    .toLowerCase()
    .replaceAll("'s", '')
    .split(/[^\p{L}\p{N}]+/u);
  return words.filter((word) => word.length > 1 && !SMALL.has(word)).map(stemWord);
}
