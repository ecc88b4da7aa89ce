// Owns the first look at a line: its tokens without polite openings and closings, and what speaks against acting on it.
// Knows no rule. Invariant: pure; the same text gives the same line; a long paste costs no more than its first part.
import type { Language } from '../language.ts';
import { joinSpoken } from './join-spoken.ts';
import { nearWord } from './near-word.ts';
import { wordList } from './phrases.ts';
import { type Token, tokenize } from './tokenize.ts';

export interface Line {
  readonly text: string;
  readonly tokens: readonly Token[];
  /** Offset where the words end and mere manners begin. */
  readonly end: number;
  readonly language: Language;
  readonly fillers: ReadonlySet<string>;
  readonly commonWords: ReadonlySet<string>;
  readonly determiners: ReadonlySet<string>;
  /** Words that open a place: `in`, `under`, `everywhere`. */
  readonly placeWords: ReadonlySet<string>;
  /** Function words that a frame may leave unexplained. */
  readonly looseWords: ReadonlySet<string>;
  /** Why nothing that acts may follow from this line; undefined when nothing speaks against it. */
  readonly doubt: Doubt | undefined;
}

export type Doubt = 'pasted' | 'foreign' | 'injection' | 'condition' | 'cancelled' | 'question';

const LONGEST = 4000;
const wordSets = new WeakMap<
  Language,
  Pick<Line, 'fillers' | 'commonWords' | 'determiners' | 'placeWords' | 'looseWords'>
>();

export function readLine(text: string, language: Language): Line {
  const trimmed = text.trim();
  const all = joinSpoken(tokenize(trimmed.slice(0, LONGEST), language.contractions), language.spokenMarks);
  const asked = all.at(-1)?.kind === 'punctuation' && all.at(-1)?.word.includes('?') === true;
  const { tokens: opened, polite } = dropOpenings(all, language);
  const spoken = dropEndings(opened, language.closings);
  const tokens = dropEndings(spoken, [...language.closings, ...language.hastes]);
  const doubt = findDoubt(trimmed, tokens, language) ?? (asked && !polite ? 'question' : undefined);
  return { text: trimmed, tokens, end: spoken.at(-1)?.end ?? 0, language, doubt, ...setsOf(language) };
}

function setsOf(
  language: Language,
): Pick<Line, 'fillers' | 'commonWords' | 'determiners' | 'placeWords' | 'looseWords'> {
  const known = wordSets.get(language);
  if (known !== undefined) return known;
  const made = {
    fillers: new Set(wordList(language.fillers)),
    commonWords: new Set(wordList(language.commonWords)),
    determiners: new Set(wordList(language.determiners)),
    placeWords: new Set(wordList(language.placeWords)),
    looseWords: new Set(wordList(language.looseWords)),
  };
  wordSets.set(language, made);
  return made;
}

interface Bare {
  readonly tokens: readonly Token[];
  readonly polite: boolean;
}

function dropOpenings(all: readonly Token[], language: Language): Bare {
  let tokens: readonly Token[] = all.slice(0, lastWord(all) + 1);
  let polite = false;
  for (let length = -1; length !== tokens.length; ) {
    length = tokens.length;
    const opening = longest(tokens, language.openings) || misspelt(tokens[0], language);
    if (opening > 0 && opening < tokens.length) tokens = withoutLeading(tokens, opening);
    polite ||= opening > 1;
  }
  const [first] = tokens;
  if (polite && isGerund(first)) tokens = [baseForm(first as Token), ...tokens.slice(1)];
  const gerund = longest(tokens, language.gerundOpenings);
  if (gerund > 0 && isGerund(tokens[gerund])) {
    tokens = [baseForm(tokens[gerund] as Token), ...tokens.slice(gerund + 1)];
    polite = true;
  }
  return { tokens, polite };
}

function isGerund(token: Token | undefined): boolean {
  return token?.kind === 'word' && /^(?!bring|thing|string|ping|king|ring|sing)\w{3,}ing$/.test(token.word);
}

/** One polite word with a slip in it: `actualy`, `plaese`. */
function misspelt(token: Token | undefined, language: Language): number {
  if (token?.kind !== 'word' || token.word.length < 5) return 0;
  const near = language.openings.some(
    (phrase) => phrase.length > 4 && !phrase.includes(' ') && nearWord(token.word, phrase) > 0,
  );
  return near ? 1 : 0;
}

function dropEndings(tokens: readonly Token[], phrases: readonly string[]): readonly Token[] {
  let kept = tokens;
  for (let length = -1; length !== kept.length; ) {
    length = kept.length;
    kept = kept.slice(0, lastWord(kept) + 1);
    kept = kept.slice(0, kept.length - ending(kept, phrases));
  }
  return kept.slice(0, lastWord(kept) + 1);
}

/** Tokens of the longest phrase that the tokens end with, when something is left before it. */
function ending(tokens: readonly Token[], phrases: readonly string[]): number {
  for (let at = Math.max(1, tokens.length - 8); at < tokens.length; at += 1) {
    if (phraseLengths(tokens, at, phrases).includes(tokens.length - at)) return tokens.length - at;
  }
  return 0;
}

function lastWord(tokens: readonly Token[]): number {
  return tokens.findLastIndex((token) => token.kind !== 'punctuation' || token.word === '!!');
}

function withoutLeading(tokens: readonly Token[], count: number): readonly Token[] {
  const next = tokens.findIndex(
    (token, index) => index >= count && (token.kind !== 'punctuation' || token.word === '!'),
  );
  return next < 0 ? [] : tokens.slice(next);
}

/** Tokens taken by the longest phrase that the tokens begin with. */
function longest(tokens: readonly Token[], phrases: readonly string[]): number {
  return Math.max(0, ...phraseLengths(tokens, 0, phrases));
}

const indexes = new WeakMap<readonly string[], ReadonlyMap<string, readonly (readonly string[])[]>>();

/** Lengths in tokens of every phrase that stands at `at`. */
export function phraseLengths(tokens: readonly Token[], at: number, phrases: readonly string[]): readonly number[] {
  const candidates = indexOf(phrases).get(tokens[at]?.word ?? '') ?? [];
  return candidates.map((words) => startsWith(tokens, words, at)).filter((length) => length > 0);
}

function indexOf(phrases: readonly string[]): ReadonlyMap<string, readonly (readonly string[])[]> {
  const known = indexes.get(phrases);
  if (known !== undefined) return known;
  const made = new Map<string, (readonly string[])[]>();
  for (const phrase of phrases) {
    const words = phrase.split(' ');
    const first = words[0] ?? '';
    const sharing = made.get(first);
    if (sharing === undefined) made.set(first, [words]);
    else sharing.push(words);
  }
  indexes.set(phrases, made);
  return made;
}

/** Number of tokens, with commas between, that `words` take at `at`; 0 when they do not stand there. */
function startsWith(tokens: readonly Token[], words: readonly string[], at: number): number {
  let place = at;
  for (const word of words) {
    while (tokens[place]?.word === ',' && place > at) place += 1;
    if (tokens[place]?.word !== word || isQuote(tokens[place])) return 0;
    place += 1;
  }
  return place - at;
}

function isQuote(token: Token | undefined): boolean {
  return token?.kind === 'quoted' || token?.kind === 'code';
}

function baseForm(token: Token): Token {
  const stem = token.word.slice(0, -3);
  if (/(.)\1$/.test(stem)) return { ...token, word: stem.slice(0, -1) };
  return { ...token, word: /[^aeiou][aiou][vcs]$|[^e]at$|ut$/.test(stem) ? `${stem}e` : stem };
}

function findDoubt(text: string, tokens: readonly Token[], language: Language): Doubt | undefined {
  if (isPasted(text)) return 'pasted';
  if (/<\/?\w+[^>]*>|\[\/?INST\]|<\|/.test(text) || hasPhrase(tokens, language.injections, 0)) return 'injection';
  if (hasPhrase(tokens, language.foreign, 0)) return 'foreign';
  if (hasPhrase(withoutHarmless(text, tokens, language), language.cancellations, 1)) return 'cancelled';
  return hasPhrase(withoutAsking(tokens, language), language.conditions, 1) ? 'condition' : undefined;
}

/** `I cannot find …` takes nothing back. */
function withoutHarmless(text: string, tokens: readonly Token[], language: Language): readonly Token[] {
  const spans = [...text.matchAll(language.guards.harmless)].map(
    (found) => [found.index, found.index + found[0].length] as const,
  );
  return tokens.filter(({ start }) => spans.every(([from, to]) => start < from || start >= to));
}

/** `check if …` asks; it is no condition. */
function withoutAsking(tokens: readonly Token[], language: Language): readonly Token[] {
  const asking = wordList(language.askingBefore);
  return tokens.filter((_token, at) => !asking.includes(tokens[at - 1]?.word ?? ''));
}

/** More than one line, but for one line of code after a line that ends with a colon. */
function isPasted(text: string): boolean {
  const lines = text
    .replace(/```[\s\S]*?```/g, '`code`')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const announced =
    lines.length === 2 &&
    /[:\w]$/.test(lines[0]?.trim() ?? '') &&
    (/:\s*$/.test(lines[0] ?? '') || /^`[^`]*`$/.test(lines[1]?.trim() ?? ''));
  return text.length > LONGEST || (lines.length > 1 && !announced);
}

function hasPhrase(tokens: readonly Token[], phrases: readonly string[], from: number): boolean {
  return tokens.some((_token, index) => index >= from && phraseLengths(tokens, index, phrases).length > 0);
}
