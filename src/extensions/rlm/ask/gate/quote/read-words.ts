// Owns reading a text as the row of words that is compared: numbers by value with their unit, names and identifiers as written, other
// words by stem, comparison signs as words. Knows no claim. Invariant: total and linear; both sides are read alike.
import { stemWord } from '#base/text/stem-word.ts';
import { isCommonWord } from '#mind/evidence/trace-guard/common-words.ts';
import { type Piece, readPieces } from '#mind/evidence/trace-guard/exact-terms.ts';
import { plainQuotes } from '#mind/evidence/trace-guard/fold-text.ts';
import { joinThousands, numberWord, unitWord } from '#mind/evidence/trace-guard/number-terms.ts';
import { numberValue } from '../number-values.ts';
import { plainText } from '../plain-text.ts';
import { isRelating, type WordClass, wordClass } from './word-classes.ts';

export interface ReadWord {
  /** As it is written. */
  readonly shown: string;
  /** Equal for what says the same. */
  readonly key: string;
  /** Names are compared by it too. */
  readonly lower: string;
  readonly kind: 'number' | 'unit' | 'name' | 'exact' | 'word';
  readonly role: WordClass;
  readonly relates: boolean;
  /** What stands between it and the word before. */
  readonly mark: 'none' | 'link' | 'hard' | 'strong';
}

const PART = new RegExp(
  [
    '(?<strong>;)',
    String.raw`(?<dense>[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー])`,
    '(?<sign>(?:->|=>|<-|→|←)|[<>]=?|!==?|[≤≥≠≈±~∼])',
    String.raw`(?<link>[:=|])(?=\s|$)`,
    String.raw`(?<chunk>(?:(?![;<>|=≤≥≠≈±∼→←"“”()[\]{},…\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}])\S)+)`,
    String.raw`(?<other>\S)`,
  ].join('|'),
  'gu',
);

/** A list marker says nothing. */
const MARKER = /^\s*(?:(?:[>#]+|[-*+•]|\d{1,3}[.)])\s+)+/u;

export function isSameWord(one: ReadWord, other: ReadWord): boolean {
  return one.key === other.key && ((one.kind !== 'name' && other.kind !== 'name') || one.lower === other.lower);
}

export function readWords(text: string): readonly ReadWord[] {
  const row: Row = { words: [], mark: 'none', end: 0 };
  const plain = joinThousands(plainQuotes(plainText(text.replace(MARKER, '').normalize('NFC'))));
  const bare = plain.replace(/\*\*|`/g, ' ');
  for (const match of bare.matchAll(PART)) {
    if (isLineStart(bare, row.end, match)) row.mark = strongest(row.mark, 'hard');
    takePart(row, match[0], match.groups ?? {});
    row.end = match.index + match[0].length;
  }
  return row.words;
}

interface Row {
  readonly words: ReadWord[];
  /** What stands before the next word. */
  mark: ReadWord['mark'];
  end: number;
}

function takePart(
  row: Row,
  whole: string,
  { strong, link, other, dense, sign }: Readonly<Record<string, string | undefined>>,
): void {
  if (strong !== undefined) row.mark = 'strong';
  else if (link !== undefined || other !== undefined)
    row.mark = strongest(row.mark, '=:,|'.includes(whole) ? 'link' : 'none');
  else if (dense !== undefined || sign !== undefined) addWords(row, [signWord(whole, dense === undefined)], 'none');
  else addWords(row, chunkWords(whole, row.words), markAfter(whole));
}

function markAfter(chunk: string): ReadWord['mark'] {
  if (/[.!?]["')]*$/.test(chunk)) return 'hard';
  return chunk.endsWith(':') ? 'link' : 'none';
}

function addWords(row: Row, found: readonly Bare[], after: ReadWord['mark']): void {
  for (const [at, word] of found.entries()) row.words.push({ ...word, mark: at === 0 ? row.mark : 'none' });
  row.mark = found.length === 0 ? strongest(row.mark, after) : after;
}

type Bare = Omit<ReadWord, 'mark'>;

const STRENGTH = ['none', 'link', 'hard', 'strong'] as const;

function strongest(one: ReadWord['mark'], other: ReadWord['mark']): ReadWord['mark'] {
  return STRENGTH.indexOf(one) > STRENGTH.indexOf(other) ? one : other;
}

const WRAPPED = 40;

/** A line that was not wrapped, or begins like a statement of its own. */
function isLineStart(text: string, end: number, { 0: next, index }: RegExpExecArray): boolean {
  const lineEnd = text.slice(end, index).search(/[\n\r\u2028\u2029]/u);
  if (lineEnd < 0) return false;
  return end + lineEnd - text.lastIndexOf('\n', end) <= WRAPPED || /^[\p{Lu}\p{N}]/u.test(next);
}

function signWord(shown: string, limits: boolean): Bare {
  return { shown, key: shown, lower: shown, kind: 'exact', role: limits ? 'limiting' : 'other', relates: false };
}

function chunkWords(chunk: string, before: readonly ReadWord[]): readonly Bare[] {
  const pieces = readPieces(chunk);
  if (pieces.length === 0) return /[\p{L}\p{N}]/u.test(chunk) ? [plainWord(chunk, true)] : [];
  let last: Bare | undefined = before.at(-1);
  return pieces.flatMap((piece) => {
    const found = pieceWords(piece, last, before.length === 0);
    last = found.at(-1) ?? last;
    return found;
  });
}

const QUANTITY = /^(-?\d+(?:\.\d+)?)([a-z%°$€£¥]{1,12})$/;

function pieceWords({ kind, shown, keys }: Piece, last: Bare | undefined, initial: boolean): readonly Bare[] {
  const [key = ''] = keys;
  if (kind === 'number') return numberWords(shown, key);
  if (kind !== 'word')
    return [
      { shown, key, lower: key, kind: 'exact', role: kind === 'compound' ? wordClass(key) : 'other', relates: false },
    ];
  const digits = numberWord(key) ?? (key === 'one' ? '1' : undefined);
  if (digits !== undefined) return numberWords(shown, digits);
  const unit = last?.kind === 'number' ? unitWord(shown) : undefined;
  if (unit !== undefined) return [unitOf(shown, unit)];
  return [plainWord(shown, initial)];
}

function numberWords(shown: string, key: string): readonly Bare[] {
  const [, digits = '', unit = ''] = QUANTITY.exec(key) ?? [];
  const value = numberValue(digits === '' ? key : digits);
  const number: Bare = { shown, key: `#${value}`, lower: value, kind: 'number', role: 'other', relates: false };
  return unit === '' ? [number] : [number, unitOf(shown, unit)];
}

function unitOf(shown: string, unit: string): Bare {
  return { shown, key: `unit:${unit}`, lower: shown.toLowerCase(), kind: 'unit', role: 'other', relates: false };
}

/** Names that look like free words: `Team A`. */
const LETTERS = /^(?:A|IT|AM|DO|DAS)$/;

function plainWord(shown: string, initial: boolean): Bare {
  const lower = shown.toLowerCase().replace(/[.,:!?'"]+$/u, '');
  const role = !initial && LETTERS.test(shown) ? 'other' : wordClass(lower);
  if (role !== 'other') return { shown, key: lower, lower, kind: 'word', role, relates: isRelating(lower) };
  const isName = /^\p{Lu}/u.test(shown) && !isCommonWord(lower) && !(initial && lower.length < 2);
  // `Bob's` is not Bob.
  const key = lower.includes("'") ? lower : stemWord(lower);
  return { shown, key, lower, kind: isName ? 'name' : 'word', role, relates: false };
}
