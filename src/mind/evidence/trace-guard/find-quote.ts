// Owns whether a quote is long enough and where it stands. Knows no claim.
// Invariant: a quote stands only at the edges of words and numbers: `port 80` does not stand in `port 8080`.
import { isIdentifier } from './exact-terms.ts';
import { foldSentences, foldText } from './fold-text.ts';

export function foldQuote(quote: string): string {
  return bare(foldText(quote));
}

/** Quotation marks and ellipses around a quote belong to who quotes. */
function bare(quote: string): string {
  let start = 0;
  let end = quote.length;
  while (start < end && isAround(quote, start, 1)) start += 1;
  while (start < end && isAround(quote, end - 1, -1)) end -= 1;
  return quote.slice(start, end);
}

function isAround(text: string, at: number, inward: 1 | -1): boolean {
  const mark = text[at] ?? '';
  if (mark === '.') return text[at + inward] === '.' || text[at - inward] === '.';
  return /["'`…\s“”‘’«»]/u.test(mark);
}

const DENSE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/gu;

/** Words between blanks and marks; two characters of a script without blanks count as one word. */
export function countWords(text: string): number {
  const inner = bare(text);
  const dense = inner.match(DENSE)?.length ?? 0;
  const spaced = inner.replace(DENSE, ' ').match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’_.-]*/gu)?.length ?? 0;
  return spaced + Math.floor(dense / 2);
}

/** Enough words, or one identifier, path, address or flag. */
export function isLongEnough(quote: string, minWords: number): boolean {
  const inner = bare(quote);
  return countWords(inner) >= minWords || (!/\s/u.test(inner) && isIdentifier(inner));
}

/** Of a quote that stands everywhere a few places tell as much as all. */
const MOST_PLACES = 8;

/** The places (start in the folded text) of a folded quote. */
export function findQuote(folded: string, quote: string): readonly number[] {
  if (quote === '') return [];
  const places: number[] = [];
  for (
    let at = folded.indexOf(quote);
    at >= 0 && places.length < MOST_PLACES;
    at = folded.indexOf(quote, at + quote.length)
  ) {
    if (isWholeWords(folded, at, at + quote.length)) places.push(at);
  }
  return places;
}

const WORD = /[\p{L}\p{N}\p{M}]/u;
const SPACELESS =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

function isWholeWords(text: string, start: number, end: number): boolean {
  return (
    !joins(charBefore(text, start), charAt(text, start)) &&
    !joins(charBefore(text, end), charAt(text, end)) &&
    !cutsNumber(text, start, end)
  );
}

/** Do these neighbours belong to one word? */
function joins(left: string, right: string): boolean {
  return WORD.test(left) && WORD.test(right) && !(SPACELESS.test(left) || SPACELESS.test(right));
}

function cutsNumber(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 2), start + 1);
  return /^\d[.,]\d$/.test(before) || /^\d[.,]\d$/.test(text.slice(end - 1, end + 2));
}

function charAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function charBefore(text: string, at: number): string {
  if (at <= 0) return '';
  const unit = text.charCodeAt(at - 1);
  return charAt(text, unit >= 0xdc00 && unit <= 0xdfff ? at - 2 : at - 1);
}

/** Is this text all of a message, a line of it or a sentence, as its writer wrote it? */
export function isWholeUnit(text: string, source: string): boolean {
  const wanted = bareUnit(text);
  if (wanted === '') return false;
  if (bareUnit(source) === wanted) return true;
  if (source.split('\n').some((line) => bareUnit(line) === wanted)) return true;
  return foldSentences(source).sentences.some(({ raw }) => bareUnit(raw) === wanted);
}

function bareUnit(text: string): string {
  return foldQuote(text)
    .replace(/^(?:[-*+•>#]|\d{1,3}[.)])\s+/u, '')
    .replace(/[\s.!。！]+$/u, '');
}
