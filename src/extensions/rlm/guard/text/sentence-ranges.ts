// Owns where the sentences of a text begin and end: at the marks of sentences and parts of them (`;`), at the ends of lines, but for a line
// that goes on in the next. Knows no quotation.
// Invariant: total and linear; the ranges stand in order and leave nothing but white space between them.
import { stemWord } from '#base/text/stem-word.ts';
import { isStopStem } from '#base/text/stop-words.ts';

export interface TextRange {
  /** UTF-16 offsets into the text, half-open. */
  readonly start: number;
  readonly end: number;
}

export function sentenceRanges(text: string): readonly TextRange[] {
  const ranges: TextRange[] = [];
  let start = text.length - text.trimStart().length;
  let lineStart = 0;
  for (const { 0: found, 1: mark = '', 2: dense = '', index } of text.matchAll(BREAK)) {
    const end = index + mark.length + dense.length;
    const next = index + found.length;
    if (end > start && ends(text, { mark: mark + dense, lineStart, end, next })) {
      ranges.push({ start, end });
      start = next;
    }
    if (LINE_END.test(found)) lineStart = next;
  }
  const last = text.trimEnd().length;
  if (start < last) ranges.push({ start, end: last });
  return ranges;
}

/** From the beginning of the sentence in which the part begins to the end of that in which it ends. */
export function sentencesAround(ranges: readonly TextRange[], part: TextRange): TextRange {
  const first = ranges.find(({ end }) => end > part.start)?.start ?? part.start;
  const last = ranges.find(({ end }) => end >= part.end)?.end ?? part.end;
  return { start: Math.min(first, part.start), end: Math.max(last, part.end) };
}

const BREAK = /([.!?;…]["'”’)\]*_`]{0,3})?\s+|([。！？；｡])\s*/gu;
const LINE_END = /[\n\r]/;
const BLANK_LINE = /(?:\r\n|\n|\r)[^\S\n\r]*[\n\r]/;

interface Break {
  readonly mark: string;
  readonly lineStart: number;
  /** Of the text before, with its mark. */
  readonly end: number;
  readonly next: number;
}

function ends(text: string, { mark, lineStart, end, next }: Break): boolean {
  const gap = text.slice(end, next);
  if (BLANK_LINE.test(gap)) return true;
  const before = text.slice(Math.max(lineStart, end - WRAPPED_LINE), end);
  if (mark !== '') return !mark.startsWith('.') || !goesOn(before, text.slice(next, next + 2));
  return LINE_END.test(gap) && !isWrapped(before, text.slice(next, next + MOST_READ));
}

/** A full stop after these ends no sentence. */
const ABBREVIATED =
  /(?:^|[\s("])(?:\p{L}|e\.g|i\.e|etc|vs|cf|ca|approx|max|min|dr|mr|mrs|ms|prof|st|no|nr|fig|sec|art|inc|ltd|jr|sr|bzw|z\.b|d\.h)\.$/iu;

/** In small letters no sentence begins. */
function goesOn(before: string, next: string): boolean {
  return ABBREVIATED.test(before) || /^\p{Ll}/u.test(next);
}

/** A line this long that ends in the middle of a sentence was wrapped. */
const WRAPPED_LINE = 40;
const MOST_READ = 40;
const NEW_LINE = /^(?:[-*+•>|#=~{}<]|\d{1,3}[.)]\s)/u;

function isWrapped(before: string, next: string): boolean {
  const line = before.trim();
  if (/[:{}>|]$/.test(line) || NEW_LINE.test(next)) return false;
  const isOpen = /\S\s+\S/.test(line) && (line.endsWith(',') || isStopWord(/(\p{L}+)$/u.exec(line)?.[1]));
  if (isOpen) return /^[\p{L}\p{N}"'“‘(`]/u.test(next);
  return (
    /^["'“‘(`]?\p{Ll}/u.test(next) && (before.length >= WRAPPED_LINE || isStopWord(/^\p{L}+(?=\s)/u.exec(next)?.[0]))
  );
}

function isStopWord(word: string | undefined): boolean {
  return word !== undefined && isStopStem(stemWord(word.toLowerCase()));
}
