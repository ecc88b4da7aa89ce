// Owns finding what a text says exactly: numbers, paths, identifiers, flags, addresses; the rest are words. Knows no claim and no name.
// Invariant: total, linear (every gap is bounded), and the same for a claim and for its source.
import { plainMarks } from '#base/text/fold.ts';
import { countWords, withoutMarks } from '#base/text/quotes.ts';
import { UNIT_NAMES } from './number-words.rules.ts';

export type PieceKind = 'url' | 'email' | 'path' | 'flag' | 'number' | 'identifier' | 'compound' | 'word';

export interface Piece {
  readonly kind: PieceKind;
  /** As it is written, without marks around it. */
  readonly shown: string;
  /** Spellings under which it is compared, the most exact one first; lower case. */
  readonly keys: readonly string[];
}

const ADDRESS =
  /([a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'`<>()[\]{}|\\^]{1,2000}|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5})/gi;
const DENSE =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー]+/gu;
const BETWEEN = /(?:[\s()[\]{}<>"`,;|=*!?…&—–•·→。，、；！？：「」（）]|\.{3})+/u;

/** In order of appearance. Runs of scripts without blanks are left out: they have no exact terms but the numbers between them. */
export function readPieces(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  joinThousands(plainMarks(text))
    .split(ADDRESS)
    .forEach((stretch, index) => {
      if (index % 2 === 1) pieces.push(...readAddress(stretch));
      else for (const raw of stretch.replace(DENSE, ' ').split(BETWEEN)) pieces.push(...classify(raw));
    });
  return pieces;
}

/** One word that names one thing exactly: enough for a quote. */
function isIdentifier(text: string): boolean {
  const [piece, ...more] = readPieces(text);
  if (piece === undefined || more.length > 0 || piece.shown.length < 3) return false;
  if (piece.kind === 'number') return /\d\.\d+\.\d/.test(piece.shown);
  return piece.kind !== 'word' && piece.kind !== 'compound';
}

function readAddress(raw: string): readonly Piece[] {
  const shown = raw.replace(/[.:,'?!/-]+$/, '');
  const key = shown.toLowerCase();
  if (!key.includes('://')) return [{ kind: 'email', shown, keys: [key] }];
  const host = /^[^:]+:\/\/(?:[^/@]{0,200}@)?([^/:?#]*)/.exec(key)?.[1] ?? '';
  return [{ kind: 'url', shown, keys: [key, key.replace(/^[^:]+:\/\//, ''), host].filter((one) => one !== '') }];
}

function trimMarks(raw: string): string {
  return raw
    .replace(/^(?:['":,?!%^#]|\.(?![\w/.])|-(?![\w-])|_(?=_?\W|_?$)|:(?!\w))+/, '')
    .replace(/['":.,?!^-]+$/, '')
    .replace(/^__|__$/g, '');
}

/** What is longer is no word: data, compared as a whole. */
const LONGEST = 400;

function classify(raw: string): readonly Piece[] {
  if (!/[\p{L}\p{N}]/u.test(raw)) return [];
  if (raw.length > LONGEST) return [{ kind: 'identifier', shown: raw, keys: [raw.toLowerCase()] }];
  return classifyPiece(trimMarks(raw));
}

function classifyPiece(piece: string): readonly Piece[] {
  const key = piece.toLowerCase();
  if (/^--?[A-Za-z][\w-]*$/.test(piece)) return [{ kind: 'flag', shown: piece, keys: [key] }];
  const numbers = numberKeys(key);
  if (numbers !== undefined) return [{ kind: 'number', shown: piece, keys: numbers }];
  if (isPath(piece)) return [{ kind: 'path', shown: piece, keys: pathKeys(key) }];
  const splitter = /::|->/.test(piece) ? undefined : /[:/\\@#]/.exec(piece)?.[0];
  if (splitter !== undefined && !/^[@$]\w|[#]$/.test(piece))
    return piece
      .split(/[:/\\@#]/)
      .map(trimMarks)
      .flatMap(classify);
  return classifyName(piece, key);
}

function classifyName(piece: string, key: string): readonly Piece[] {
  if (/^(?:\p{L}\.)+\p{L}?$/u.test(piece)) return []; // e.g, i.e, a.m
  if (/^\d+[-–]\d+$/.test(piece)) return piece.split(/[-–]/).flatMap(classify);
  if (/^\p{L}+(?:'\p{L}+)?(?:-\p{L}+(?:'\p{L}+)?)+$/u.test(piece))
    return [{ kind: 'compound', shown: piece, keys: [key] }];
  const isName =
    /[_\d$@#]|\+\+|::|->|\p{L}\.\p{L}/u.test(piece) ||
    /^\p{Ll}+(?:\p{Lu}\p{Ll}*)+$/u.test(piece) ||
    /^(?:\p{Lu}\p{Ll}+){2,}$/u.test(piece);
  if (!isName) return [{ kind: 'word', shown: piece, keys: [key] }];
  return [{ kind: 'identifier', shown: piece, keys: [key.replace(/\(\)$/, ''), key.replace(/^[$@]/, '')] }];
}

function isPath(piece: string): boolean {
  if (/^(?:[A-Za-z]:|~|\.{1,2})?[\\/][\w.@~$-]/.test(piece) || /^\.[A-Za-z]\w/.test(piece)) return true;
  if (!/^[\w.@~$+-]+(?:[\\/][\w.@~$+%:-]*)+$/.test(piece)) return false;
  const segments = piece.split(/[\\/]/);
  // `and/or`, `tabs/spaces`: two plain words are no path.
  return segments.length > 2 || segments.some((one) => one === '' || /[._\d$~-]/.test(one));
}

function pathKeys(key: string): readonly string[] {
  const plain = key
    .replaceAll('\\', '/')
    .replace(/^\.\//, '')
    .replace(/\/{2,}/g, '/')
    .replace(/(?<=.)\/$/, '');
  return [plain];
}

// The one spelling of a number: thousands separators, versions, units. Pure; linear in the piece.
// Invariant: what a reader would call the same quantity has one key; a number with a unit never equals one with another unit.

/** `10,000`, `10_000`, `10 000` (narrow blank) become 10000 everywhere in the text. */
function joinThousands(text: string): string {
  return text.replace(/(?<=\d)[,_'\u00a0\u202f](?=\d{3}(?!\d))/g, '');
}

const PLAIN = /^([-+]?)([$€£¥]?)(\d+(?:\.\d+)?)([a-z%°$€£¥]{0,12})$/;
const VERSION = /^v?(\d+(?:\.\d+)+(?:[-+][\w.+-]+)?|\d+\.(?:x|\d+)(?:\.x)?)$/;

/** Keys of a lower-case piece that is a number, the most exact one first; undefined when it is none. */
function numberKeys(piece: string): readonly string[] | undefined {
  if (!/\d/.test(piece)) return undefined;
  const plain = PLAIN.exec(piece);
  if (plain !== null) return plainKeys(plain);
  if (/^v\d+$/.test(piece)) return [piece, piece.slice(1)];
  const version = VERSION.exec(piece)?.[1];
  if (version !== undefined) return [version];
  const range = /^(\d+)[-–](\d+)$/.exec(piece);
  if (range !== null) return undefined;
  return /^\d[\d./:-]*\d(?:[tz]\S*)?$/.test(piece) ? [piece] : undefined;
}

function plainKeys([, sign = '', currency = '', digits = '', suffix = '']: RegExpExecArray):
  | readonly string[]
  | undefined {
  const unit = UNIT_NAMES.get(currency || suffix);
  if (suffix === 'k' || suffix === 'st' || suffix === 'nd' || suffix === 'rd' || suffix === 'th') {
    const value = suffix === 'k' ? String(Number(digits) * 1000) : digits;
    return [sign === '-' ? `-${value}` : value];
  }
  if (suffix !== '' && unit === undefined && currency === '') return undefined;
  const bare = [sign === '-' ? `-${digits}` : digits];
  return unit === undefined ? bare : [`${digits}${unit}`, ...bare];
}

/** Enough words, or one identifier, path, address or flag. */
export function isLongEnough(quote: string, minWords: number): boolean {
  const inner = withoutMarks(quote);
  return countWords(inner) >= minWords || (!/\s/u.test(inner) && isIdentifier(inner));
}
