// Owns the one cutter of text into sentences; where one ends is said by a rule, a row of a table. Knows no document (`passages.ts` does), and
// of languages some abbreviations. Invariants: linear; sentences are stretches of the text as it stands, in order, without white space at
// their ends; by `prose` a sentence in doubt does not end, so that what is called whole is never a part.
import { isStopStem, stemWord } from './words.ts';

export interface Stretch {
  /** UTF-16 offsets into the text, half-open. */
  readonly start: number;
  readonly end: number;
}

/** What a match holds belongs to the sentence before it. */
const ENDS = {
  /** Of a document, whose lines may be wrapped: the next one begins like a sentence. */
  prose: /[.!?…]["'”’»)\]*`]*\s+(?=["'“‘„«([*`_¿¡]?[\p{Lu}\p{N}`])|[。！？]["'”’」』）)]*/gu,
  /** Of a message: small letters begin sentences too, and a line ends one. */
  said: /[.!?…]["'”’»)\]]{0,3}(?:\s+|$)|\n\s*|[。！？｡]["'”’」』）)]*/gu,
  /** As `said`, and a semicolon ends one. */
  clause: /[.!?;…]["'”’»)\]]{0,3}(?:\s+|$)|\n\s*|[。！？；｡]["'”’」』）)]*/gu,
  /** As the recorded scorer of recursion cuts (seed 003, notes 22.6). */
  scored: /(?<=[.!?])\s+|[\n;]+/gu,
} as const;

export type SentenceRule = keyof typeof ENDS;

/** A full stop after these ends no sentence; after a small number it may be that of `14. Mai`. */
const ABBREVIATED =
  /(?:^|[\s("])(?:\p{L}|(?:\p{L}\.)+\p{L}|\d{1,2}|etc|vs|cf|ca|approx|dr|mr|mrs|ms|prof|st|no|nr|fig|sec|art|inc|ltd|jr|min|max|bzw|usw|str)\.$/iu;

interface CutOptions {
  /** Only this part of the text. */
  readonly within?: Stretch;
  /** A line that was wrapped by hand ends no sentence. */
  readonly wrapped?: boolean;
}

export function cutSentences(
  text: string,
  rule: SentenceRule,
  { within: { start, end } = { start: 0, end: text.length }, wrapped = false }: CutOptions = {},
): readonly Stretch[] {
  const part = text.slice(start, end);
  const sentences: Stretch[] = [];
  let from = 0;
  const take = (to: number) => {
    const sentence = trimmed(part.slice(from, to), start + from);
    if (sentence.end > sentence.start) sentences.push(sentence);
    from = to;
  };
  for (const { 0: mark, index } of part.matchAll(ENDS[rule])) {
    if (rule === 'prose' && ABBREVIATED.test(part.slice(Math.max(from, index - 12), index + 1))) continue;
    if (wrapped && isWrapped(part, index, mark)) continue;
    take(index + mark.length);
  }
  take(part.length);
  return sentences;
}

/** The texts of them. */
export function sentencesOf(text: string, rule: SentenceRule): readonly string[] {
  return cutSentences(text, rule).map(({ start, end }) => text.slice(start, end));
}

/** The one that holds the place `at`, as far as it reaches within `reach` characters to both sides; `isWhole`: it ends there. */
export function sentenceAt(
  text: string,
  at: number,
  rule: SentenceRule,
  reach: number,
): Stretch & { readonly isWhole: boolean } {
  const within = { start: Math.max(0, at - reach), end: Math.min(text.length, at + reach) };
  const cut = cutSentences(text, rule, { within });
  const which = Math.max(
    0,
    cut.findLastIndex(({ start }) => start <= at),
  );
  const isOpen = (which === 0 && within.start > 0) || (which === cut.length - 1 && within.end < text.length);
  return { ...(cut[which] ?? within), isWhole: !isOpen };
}

/** Without the white space at its ends. */
export function trimmed(raw: string, from: number): Stretch {
  const end = from + raw.trimEnd().length;
  return { start: Math.min(end, from + raw.length - raw.trimStart().length), end };
}

/** A line this long that ends in the middle of a sentence was wrapped. */
const WRAPPED_LINE = 40;

function isWrapped(text: string, lineEnd: number, gap: string): boolean {
  if (!gap.startsWith('\n') || /\n[^\S\n]*\n/u.test(gap)) return false;
  const line = text.slice(text.lastIndexOf('\n', lineEnd - 1) + 1, lineEnd).trimEnd();
  const next = lineEnd + gap.length;
  if (/[.!?:;,]$/u.test(line) || !/^[\p{Ll}("']/u.test(text.slice(next, next + 2))) return false;
  return line.length >= WRAPPED_LINE || isLeftOpen(line);
}

/** Does the line end in a word that needs another one? */
export function isLeftOpen(line: string): boolean {
  const last = /(?:^|[\s("'’])(\p{L}[\p{L}'’]{0,11})$/u.exec(line)?.[1];
  return last !== undefined && isStopStem(stemWord(last.toLowerCase().replace(/['’]/g, '')));
}
