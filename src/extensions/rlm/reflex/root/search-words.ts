// Owns what the code of the rule searches for: beginnings of the question's words, as they may stand in a text, and what is quoted in it.
// Invariant: pure; no beginning is empty; every pattern is linear.
import { splitWords } from '#base/text/split-words.ts';
import { stemWord } from '#base/text/stem-word.ts';
import { relatedStems } from '../rank/related-stems.ts';
import { readQuestion } from '../read/read-question.ts';

export interface SearchWord {
  readonly word: string;
  /** What is searched for, as it is. */
  readonly starts: readonly string[];
  /** Source of a pattern (flags iu) that a line must match. */
  readonly pattern: string;
}

const MOST_WORDS = 12;
const QUOTED = /["“„«`']([^"“”„«»`'\n]{2,80})["”»`'](?![\p{L}\p{N}])/gu;

export function quotedPhrases(question: string): readonly string[] {
  return [...question.matchAll(QUOTED)].map(([, phrase = '']) => phrase.trim()).filter((phrase) => phrase.length > 1);
}

export function searchWords(question: string): readonly SearchWord[] {
  const wanted = new Set(readQuestion(question).stems);
  const typed = new Map(originals(question).map((word) => [word.toLowerCase(), word]));
  const words = [...new Set(splitWords(question))].filter((word) => wanted.has(stemWord(word)));
  const phrases = quotedPhrases(question).map((phrase) => ({
    word: phrase,
    starts: [phrase],
    pattern: escaped(phrase),
  }));
  return [...phrases, ...words.map((word) => searchWord(word, typed.get(word)))].slice(0, MOST_WORDS);
}

function searchWord(word: string, typed: string | undefined): SearchWord {
  const stem = stemWord(word);
  const beginnings = [beginning(word, stem), ...relatedStems(stem).map((other) => beginning(other, other))];
  const starts = beginnings.flatMap((start) => [start, `${start.charAt(0).toUpperCase()}${start.slice(1)}`]);
  const pattern = beginnings.map((start) => `${escaped(start)}[\\p{L}]{0,${roomAfter(start)}}`).join('|');
  return {
    word,
    starts: [...new Set([...starts, ...(typed === undefined ? [] : [typed])])],
    pattern: `(?<![\\p{L}\\p{N}])(?:${pattern})(?![\\p{L}\\p{N}])`,
  };
}

/** What word and stem have in common; "verifi" and "verify" begin with "verif". */
function beginning(word: string, stem: string): string {
  let at = 0;
  while (at < stem.length && word[at] === stem[at]) at += 1;
  const common = word.slice(0, at);
  return common.length < 2 ? word : common.length > 4 && common.endsWith('i') ? common.slice(0, -1) : common;
}

/** Letters that may follow: after a short beginning few, or another word would match. */
function roomAfter(start: string): number {
  return start.length >= 5 ? 8 : start.length === 4 ? 4 : 2;
}

function originals(question: string): readonly string[] {
  return question.match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
}

/** Literal in a pattern with the flag u, where only marks of the syntax may be escaped. */
export function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
