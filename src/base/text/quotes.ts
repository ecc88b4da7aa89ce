// Owns the one finder of quotations: where words stand in a text, and whether they are all of a sentence, line, item or cell of it. Knows no claim
// and no handle. Invariants: linear; a quotation stands only at the edges of words and numbers (`port 80` does not stand in `port 8080`); what is
// called whole is never a part.

import { oneLine } from '../text.ts';
import { foldText, plainMarks } from './fold.ts';
import { cutPassages, type Passage } from './passages.ts';
import { cutSentences, type Stretch } from './sentences.ts';
import { DENSE } from './words.ts';

export function foldQuote(quote: string): string {
  return withoutMarks(foldText(quote));
}

/** Quotation marks and ellipses around a quote belong to who quotes. */
export function withoutMarks(quote: string): string {
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

/** Hangul has blanks. */
const UNSPACED = new RegExp(`(?!\\p{sc=Hangul})${DENSE.source}`, 'gu');

/** Words between blanks and marks; two characters of a script without blanks count as one word. */
export function countWords(text: string): number {
  const inner = withoutMarks(text);
  const dense = inner.match(UNSPACED)?.length ?? 0;
  const spaced = inner.replace(UNSPACED, ' ').match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’_.-]*/gu)?.length ?? 0;
  return spaced + Math.floor(dense / 2);
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

function isWholeWords(text: string, start: number, end: number): boolean {
  return (
    !joins(charBefore(text, start), charAt(text, start)) &&
    !joins(charBefore(text, end), charAt(text, end)) &&
    !cutsNumber(text, start, end)
  );
}

/** Do these neighbours belong to one word? */
function joins(left: string, right: string): boolean {
  return WORD.test(left) && WORD.test(right) && !(DENSE.test(left) || DENSE.test(right));
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
  return cutSentences(source, 'clause', { wrapped: true }).some(
    ({ start, end }) => bareUnit(source.slice(start, end)) === wanted,
  );
}

function bareUnit(text: string): string {
  return foldQuote(text)
    .replace(/^(?:[-*+•>#]|\d{1,3}[.)])\s+/u, '')
    .replace(/[\s.!。！]+$/u, '');
}

export interface WholePlace {
  /** UTF-16 offsets into the text as it is, half-open. */
  readonly start: number;
  readonly end: number;
  /** Nothing had to be added but a list mark, a tag or a last mark. */
  readonly isWhole: boolean;
}

interface Piece {
  /** In the text. */
  readonly start: number;
  readonly end: number;
  readonly inner: number;
  /** In the folded text; from `from` on with its list mark. */
  readonly from: number;
  readonly folded: { readonly start: number; readonly inner: number; readonly end: number };
}

/** The id that begins a line: it belongs to who quotes it, or not. */
const TAGGED = /^(?:FACT:\s*[^\s:]+|\[?[A-Z][A-Z0-9]*[-.]?\d[\d.]*\]?)[:\s]\s*/;

/** Rows of a table and lines of code are whole only as they are. */
function stretchesOf(text: string, passage: Passage): readonly { start: number; end: number; inner: number }[] {
  const { start, end, tag, kind } = passage;
  const inner = start + (tag === null ? 0 : (TAGGED.exec(passage.text)?.[0].length ?? 0));
  if (kind === 'code' || passage.text.startsWith('|')) return [{ start, end, inner }];
  const cut = cutSentences(text, 'prose', { within: { start: Math.min(inner, end), end } });
  return cut.length === 0
    ? [{ start, end, inner: start }]
    : cut.map((one, at) => ({ start: at === 0 ? start : one.start, end: one.end, inner: one.start }));
}

export class WholeQuotes {
  readonly #fold: (text: string) => string;
  readonly #pieces: readonly Piece[];
  readonly #folded: string;

  constructor(text: string, fold: (text: string) => string = oneLine) {
    this.#fold = fold;
    const parts: string[] = [];
    let length = 0;
    let last = 0;
    const put = (end: number): number => {
      const part = fold(text.slice(last, end));
      const from = length > 0 && part !== '' && /^\s|\s$/.test(`${text[last - 1]}${text[last]}`) ? length + 1 : length;
      if (part !== '') parts.push(from > length ? ` ${part}` : part);
      length = from + part.length;
      last = end;
      return from;
    };
    this.#pieces = cutPassages(text)
      .flatMap((passage) => stretchesOf(text, passage))
      .map(({ start, end, inner }) => {
        const from = put(start);
        const begins = put(inner);
        const within = put(end);
        const folded = { start: inner > start ? begins : within, inner: within, end: length };
        return { start, end, inner, from: Math.min(from, folded.start), folded };
      });
    this.#folded = parts.join('');
  }

  /** The first place where it is whole, else the first of all; undefined: it stands nowhere. */
  find(quote: string): WholePlace | undefined {
    const wanted = this.#fold(quote);
    if (!/[\p{L}\p{N}]/u.test(wanted)) return undefined;
    const places = findQuote(this.#folded, wanted).flatMap((at) => this.#around(at, at + wanted.length) ?? []);
    return places.find(({ isWhole }) => isWhole) ?? places[0];
  }

  #around(from: number, to: number): WholePlace | undefined {
    const first = this.#pieces.find(({ folded }) => folded.end > from);
    const last = this.#pieces.find(({ folded }) => folded.end >= to);
    if (first === undefined || last === undefined) return undefined;
    const isBegun = [first.from, first.folded.start, first.folded.inner].includes(from);
    return {
      start: from >= first.folded.inner ? first.inner : first.start,
      end: last.end,
      isWhole: isBegun && /^[.,;:…]*$/.test(this.#folded.slice(to, last.folded.end)),
    };
  }
}

const EMPHASIS = /(?<![\p{L}\p{N}*_`])(\*{1,3}|_{1,3}|`{1,2})(?=\S)([^\n]{1,400}?)(?<=\S)\1(?![\p{L}\p{N}*_`])/gu;

/** The form in which a sentence and a unit are compared. */
export function plainSentence(text: string): string {
  const bare = text.replace(EMPHASIS, '$2').replace(EMPHASIS, '$2').normalize('NFC');
  return plainMarks(bare)
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/(?<=[^.。])[.。]$/u, '');
}

/** By their plain form, each with all places where it stands, UTF-16. */
export type WholeUnits = ReadonlyMap<string, readonly Stretch[]>;

export function wholeUnits(text: string): WholeUnits {
  const units = new Map<string, Stretch[]>();
  for (const stretch of cutPassages(text).flatMap((passage) => [passage, ...partsOf(text, passage)])) {
    const plain = plainSentence(text.slice(stretch.start, stretch.end));
    if (!/[\p{L}\p{N}]/u.test(plain)) continue;
    const known = units.get(plain);
    if (known === undefined) units.set(plain, [stretch]);
    else if (known.at(-1)?.start !== stretch.start) known.push(stretch);
  }
  return units;
}

function partsOf(text: string, { kind, start, end }: Stretch & { readonly kind: string }): readonly Stretch[] {
  if (kind === 'code') return [];
  const row = text.slice(start, end);
  if (!row.startsWith('|')) return cutSentences(text, 'prose', { within: { start, end } });
  let at = start;
  return row.split(/(?<!\\)\|/).map((cell) => {
    const from = at + cell.length - cell.trimStart().length;
    at += cell.length + 1;
    return { start: from, end: from + cell.trim().length };
  });
}
