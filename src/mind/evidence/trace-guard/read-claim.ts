// Owns what a claim says that its sources must say too: exact terms, proper names, other content words, and what it denies.
// Knows no source. Invariants: marks of lists and headings are no content; a capital at the beginning of a sentence, a heading or a
// list item makes a name only of a word that is not everyday English; what stands in code must occur word for word.
import { type JsonValue, parseJson } from '#base/json.ts';
import { porterStem } from '#base/text/porter-stem.ts';
import { splitWords } from '#base/text/split-words.ts';
import { stemWord } from '#base/text/stem-word.ts';
import { isStopStem } from '#base/text/stop-words.ts';
import { isCommonWord } from './common-words.ts';
import { isCommonCompound, type Piece, readPieces } from './exact-terms.ts';
import { foldSentences, plainQuotes } from './fold-text.ts';
import { numberWord, unitWord } from './number-terms.ts';
import { isNegator } from './polar-words.ts';
import { beginningsOf, withoutEnding, withUnit } from './read-evidence.ts';
import { type Polarity, readPolarity } from './read-polarity.ts';

export interface ExactTerm {
  readonly shown: string;
  /** One of them must be among the source's exact terms. */
  readonly keys: readonly string[];
  /** Or this word among its words. */
  readonly word?: string;
  /** Or all of these among its stems. */
  readonly stems?: readonly string[];
  /** Or one of these among its words that are no names, without their endings. */
  readonly bent?: readonly string[];
}

/** One of its stems, by lemma or by rule, or of its beginnings must be among the source's. */
export interface SoftWord {
  readonly stems: readonly string[];
  readonly beginnings: readonly string[];
}

export interface ClaimReading {
  readonly exact: readonly ExactTerm[];
  /** The other content words by stem, each once. */
  readonly soft: ReadonlyMap<string, SoftWord>;
  readonly sentences: readonly Polarity[];
  readonly hasNegation: boolean;
}

export function readClaim(text: string): ClaimReading {
  const { prose, code } = splitMarkdown(text);
  const exact: ExactTerm[] = [];
  const soft = new Map<string, SoftWord>();
  const { sentences } = foldSentences(prose);
  for (const { raw } of sentences) {
    for (const segment of raw.replace(/\s+/gu, ' ').split(SEGMENT)) readSegment(segment, exact, soft);
    for (const pair of densePairs(raw)) soft.set(pair, { stems: [pair], beginnings: [] });
  }
  for (const span of code) exact.push(...codeTerms(span));
  const polarity = sentences.map(({ raw }) => readPolarity(raw));
  return { exact, soft, sentences: polarity, hasNegation: polarity.some(({ hasNegation }) => hasNegation) };
}

/** After these marks a word begins like a sentence. */
const SEGMENT = /(?<=[:(])\s+|\s+[-–—|]\s+|(?<![\p{L}\p{N}])["“]/u;

interface Markdown {
  readonly prose: string;
  readonly code: readonly string[];
}

/** A block begins on a line of its own, also as a list item, and ends with as many back-ticks, or with the text. */
const FENCED =
  /^[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(`{3,})[^\n`]{0,40}\n([\s\S]*?)(?:\n[ \t]*\1`*[ \t]*$|(?![\s\S]))/gm;
const SPAN = /(?<!`)(`{1,8})(?!`)([^\n]{1,400}?)(?<!`)\1(?!`)/g;
const DEEPEST_JSON = 3;

/** JSON claims what it holds: its escapes would hide words. */
function plainCode(code: string, depth = 0): string {
  const parsed = /^\s*["{[]/.test(code) && depth < DEEPEST_JSON ? parseJson(code) : undefined;
  if (!parsed?.ok) return code;
  return valuesOf(parsed.value)
    .map((text) => plainCode(text, depth + 1))
    .join('\n');
}

function valuesOf(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [String(value)];
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => valuesOf(item));
  return Object.entries(value).flatMap(([key, item]) => [key, ...(item === undefined ? [] : valuesOf(item))]);
}

/** Lines of code blocks and the inside of back-ticks are code; markers of lists, headings, quotes and steps go. */
function splitMarkdown(text: string): Markdown {
  const code: string[] = [];
  const keep = (_whole: string, _marks: string, inside: string): string => {
    code.push(plainCode(inside));
    return ' ';
  };
  const prose = text
    .replace(FENCED, keep)
    .replace(SPAN, keep)
    .split('\n')
    .map(withoutMarkers)
    .join('\n')
    .replace(/\*\*|__(?=\s|$)|(?<=\s|^)__/g, '');
  return { prose, code };
}

function withoutMarkers(line: string): string {
  return line
    .replace(/^\s*(?:[>#]+\s*|[-*+•]\s+|\d{1,3}[.)]\s+|\[[ x]\]\s+)+/u, '')
    .replace(/^(?:step|phase|part)\s+\d{1,2}\s*[:.)–-]\s*/iu, '');
}

function readSegment(segment: string, exact: ExactTerm[], soft: Map<string, SoftWord>): void {
  const pieces = readPieces(segment);
  const titled = isTitle(pieces);
  let isUnit = false;
  pieces.forEach((piece, at) => {
    if (isUnit) {
      isUnit = false;
      return;
    }
    const term = exactTerm(piece, { next: pieces[at + 1], initial: at === 0 || titled });
    if (term === undefined) addSoft(piece.shown, soft);
    else {
      exact.push(term);
      const next = pieces[at + 1];
      isUnit = isQuantity(piece) && next?.kind === 'word' && unitWord(next.shown) !== undefined;
    }
  });
}

function isTitle(pieces: readonly Piece[]): boolean {
  const words = pieces.filter(({ kind, shown }) => kind === 'word' && shown.length > 3);
  const capitals = words.filter(({ shown }) => /^\p{Lu}/u.test(shown));
  return words.length > 1 && capitals.length / words.length > 0.6 && capitals.every(({ shown }) => isCommonWord(shown));
}

function isQuantity(piece: Piece): boolean {
  return piece.kind === 'number' || numberWord(piece.keys[0] ?? '') !== undefined;
}

function exactTerm(
  piece: Piece,
  { next, initial }: { readonly next: Piece | undefined; readonly initial: boolean },
): ExactTerm | undefined {
  const { shown, keys } = piece;
  const [key = ''] = keys;
  switch (piece.kind) {
    case 'number':
      return { shown, keys: /^v\d/.test(key) ? keys : [withUnit(key, next)[0] ?? key] };
    case 'url':
      return { shown, keys: [key.replace(/\/$/, ''), ...keys.slice(0, 2)] };
    case 'email':
    case 'path':
    case 'flag':
    case 'identifier':
      return { shown, keys };
    case 'compound':
      return isCommonCompound(shown) ? undefined : { shown, keys, stems: contentOf(shown).map(stemWord) };
    case 'word': {
      const digits = numberWord(key);
      if (digits !== undefined) return { shown, keys: [withUnit(digits, next)[0] ?? digits] };
      return isName(shown, initial) ? nameTerm(shown, initial) : undefined;
    }
  }
}

/** Who the entry is about need not be named in what he said. */
const FRAME = new Set('user users owner benutzer nutzer utilisateur usuario utente usuário'.split(' ').map(stemWord));

function isName(shown: string, initial: boolean): boolean {
  const bare = shown.replace(/'(?:s|m|ve|ll|d|re)?$/u, '');
  if (!/^\p{Lu}[\p{L}\p{M}'.]+$/u.test(bare) || FRAME.has(stemWord(bare.toLowerCase()))) return false;
  const lower = bare.toLowerCase().replaceAll("'", '');
  if (isStopStem(stemWord(lower)) || isNegator(lower)) return false;
  const shouted = /^[\p{Lu}']{2,}$/u.test(bare);
  return !((initial || shouted) && isCommonWord(bare));
}

/** What begins a sentence may be a verb of another language, bent for another person. */
function nameTerm(shown: string, initial: boolean): ExactTerm {
  const word = splitWords(shown)[0] ?? shown.toLowerCase();
  const bent = initial && word.length >= 5 ? withoutEnding(shown.toLowerCase()) : [];
  return { shown, keys: [shown.toLowerCase()], word, stems: [stemWord(word)], bent };
}

function addSoft(shown: string, soft: Map<string, SoftWord>): void {
  for (const word of contentOf(shown)) {
    const stem = stemWord(word);
    soft.set(stem, { stems: [stem, porterStem(word)], beginnings: beginningsOf(word).slice(0, 3) });
  }
}

function contentOf(text: string): readonly string[] {
  return splitWords(text).filter((word) => {
    const stem = stemWord(word);
    return !isNegator(word) && !isStopStem(stem) && !FRAME.has(stem);
  });
}

const DENSE =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー]+/gu;

/** Pairs of characters of scripts without blanks. */
function densePairs(text: string): readonly string[] {
  return (plainQuotes(text).match(DENSE) ?? []).flatMap((run) => splitWords(run));
}

/** A place to fill in, as `<name>` or `{{name}}`, may be general. */
const PLACEHOLDER = /<[a-z][\w -]{0,40}>|\{\{[\w .-]{1,40}\}\}|\{[a-z][\w-]{0,40}\}/gi;

function codeTerms(span: string): readonly ExactTerm[] {
  return readPieces(span.replace(PLACEHOLDER, ' ')).flatMap((piece) => {
    const { shown, keys } = piece;
    if (piece.kind === 'word') return shown.length > 1 ? [{ shown, keys, word: shown.toLowerCase() }] : [];
    const term = exactTerm(piece, { next: undefined, initial: true });
    return [{ ...(term ?? { shown, keys }), ...(piece.kind === 'compound' ? { stems: [] } : {}) }];
  });
}
