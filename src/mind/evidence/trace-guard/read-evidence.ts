// Owns what one text of a source says: where its sentences are, its exact terms under every spelling, its words. Knows no claim.
// Invariant: pure, linear in the text; more text never says less.
import { porterStem } from '#base/text/porter-stem.ts';
import { splitWords } from '#base/text/split-words.ts';
import { stemWord } from '#base/text/stem-word.ts';
import type { EvidenceText } from './claim.ts';
import { type Piece, readPieces } from './exact-terms.ts';
import { foldSentences, plainDigits } from './fold-text.ts';
import { joinThousands, numberWord, unitWord } from './number-terms.ts';
import { type Clause, type Polarity, readPolarity } from './read-polarity.ts';

export interface EvidenceSentence extends Polarity {
  readonly start: number;
  readonly end: number;
}

/** Of a word that stands everywhere, the first clauses tell as much as all. */
const MOST_MENTIONS = 100;

/** Lemma → the clauses that hold it. */
export type Mentions = ReadonlyMap<string, readonly Clause[]>;

export interface EvidenceReading {
  readonly source: EvidenceText;
  readonly folded: string;
  readonly sentences: readonly EvidenceSentence[];
  readonly mentions: Mentions;
  /** Numbers, paths, identifiers, addresses; lower case. */
  readonly exact: ReadonlySet<string>;
  /** Lower case. */
  readonly words: ReadonlySet<string>;
  /** By rule and by lemma: `lives` is of `live` and of `life`. */
  readonly stems: ReadonlySet<string>;
  /** Beginnings of the longer words: other languages bend their words where no rule of English reaches. */
  readonly beginnings: ReadonlySet<string>;
  /** Of words in small letters, without an ending that verbs bend by. */
  readonly bentWords: ReadonlySet<string>;
  readonly hasNegation: boolean;
}

/** One place where a quote stands. */
export interface QuotePlace {
  readonly reading: EvidenceReading;
  /** The sentences that it is taken from. */
  readonly quoted: readonly EvidenceSentence[];
  /** Of these sentences alone. */
  readonly mentions: Mentions;
}

export function readEvidence(source: EvidenceText): EvidenceReading {
  const { folded, sentences } = foldSentences(source.text);
  const read = sentences.map(({ raw, start, end }) => ({ ...readPolarity(raw), start, end }));
  const words = new Set(splitWords(joinThousands(plainDigits(source.text))));
  return {
    source,
    folded,
    sentences: read,
    mentions: mentionsOf(read),
    exact: exactKeys(readPieces(source.text)),
    words,
    stems: new Set([...words].flatMap((word) => [stemWord(word), porterStem(word)])),
    beginnings: new Set([...words].flatMap(beginningsOf)),
    bentWords: new Set((source.text.match(/(?<!\p{L})\p{Ll}{5,30}(?!\p{L})/gu) ?? []).flatMap(withoutEnding)),
    hasNegation: read.some(({ hasNegation }) => hasNegation),
  };
}

export function mentionsOf(sentences: readonly EvidenceSentence[]): Mentions {
  const mentions = new Map<string, Clause[]>();
  for (const clause of sentences.flatMap(({ clauses }) => clauses)) {
    for (const lemma of clause.signs.keys()) {
      const known = mentions.get(lemma);
      if (known === undefined) mentions.set(lemma, [clause]);
      else if (known.length < MOST_MENTIONS) known.push(clause);
    }
  }
  return mentions;
}

const ENDINGS = new Set(',e,t,n,en,st,te,es,est,et,o,a,as,an,on,ons,ez,ent,s,er,re,r,i,ai,ed,ing'.split(','));

/** `wohne` and `wohnt` have a stretch in common that only such endings follow. */
export function withoutEnding(word: string): readonly string[] {
  const cuts = [0, 1, 2, 3].filter((cut) => word.length - cut >= 4 && ENDINGS.has(word.slice(word.length - cut)));
  return cuts.map((cut) => word.slice(0, word.length - cut));
}

/** A word of at least five letters, whole and without up to three letters of its end, four at least. */
export function beginningsOf(word: string): readonly string[] {
  if (word.length < 5 || !/^\p{L}+$/u.test(word)) return [];
  return [0, 1, 2, 3].map((cut) => word.slice(0, word.length - cut)).filter((begin) => begin.length >= 4);
}

function exactKeys(pieces: readonly Piece[]): ReadonlySet<string> {
  const keys = new Set<string>();
  pieces.forEach((piece, at) => {
    for (const key of piece.keys) keys.add(key);
    for (const key of furtherKeys(piece, pieces[at + 1])) keys.add(key);
  });
  return keys;
}

/** What a reader may rightly take out of a longer term. */
function furtherKeys(piece: Piece, next: Piece | undefined): readonly string[] {
  const [key = ''] = piece.keys;
  switch (piece.kind) {
    case 'number':
      return [...numberParts(key), ...withUnit(key, next)];
    case 'path':
      return pathTails(key);
    case 'url':
      return [
        key.replace(/\/$/, ''),
        ...pathTails(piece.keys[1] ?? ''),
        ...(key.match(/(?<=[:/=])\d+(?=[/?&#]|$)/g) ?? []),
      ];
    case 'word':
    case 'compound': {
      const digits = key === 'one' ? '1' : numberWord(key);
      return digits === undefined ? [] : [digits, ...withUnit(digits, next)];
    }
    case 'email':
    case 'flag':
    case 'identifier':
      return [];
  }
}

/** A date, a time and a fraction hold their parts; a version and a decimal do not. */
function numberParts(key: string): readonly string[] {
  if (key.startsWith('-')) return [key.slice(1)];
  return /[-/:]/.test(key) ? key.split(/[-/:t]/).flatMap((part) => [part, part.replace(/^0+(?=\d)/, '')]) : [];
}

export function withUnit(digits: string, next: Piece | undefined): readonly string[] {
  const unit = next?.kind === 'word' ? unitWord(next.shown) : undefined;
  return unit === undefined || !/^\d+(?:\.\d+)?$/.test(digits) ? [] : [`${digits}${unit}`];
}

const MOST_SEGMENTS = 24;

/** `/a/b/c.ts` may be named `b/c.ts` or `c.ts`, never `/a`: that would be more than was meant. */
function pathTails(key: string): readonly string[] {
  const segments = key
    .replace(/^(?:[a-z]:|~)?\//, '')
    .replace(/\/$/, '')
    .split('/')
    .slice(-MOST_SEGMENTS);
  return segments.map((_, index) => segments.slice(index).join('/'));
}
