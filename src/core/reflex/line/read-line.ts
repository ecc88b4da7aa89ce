// Owns the first look at a line: its tokens without polite openings and closings, and what speaks against acting on it.
// Knows no rule. Invariant: pure; the same text gives the same line; a long paste costs no more than its first part.
import type { Language } from '../language.ts';
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
  /** Why nothing that acts may follow from this line; undefined when nothing speaks against it. */
  readonly doubt: Doubt | undefined;
}

export type Doubt = 'pasted' | 'injection' | 'condition' | 'cancelled' | 'question';

const LONGEST = 4000;
const wordSets = new WeakMap<Language, Pick<Line, 'fillers' | 'commonWords' | 'determiners'>>();

export function readLine(text: string, language: Language): Line {
  const trimmed = text.trim();
  const all = tokenize(trimmed.slice(0, LONGEST), language.contractions);
  const asked = all.at(-1)?.kind === 'punctuation' && all.at(-1)?.word.includes('?') === true;
  const { tokens: opened, polite } = dropOpenings(all, language);
  const spoken = dropEndings(opened, language.closings);
  const tokens = dropEndings(spoken, [...language.closings, ...language.hastes]);
  const doubt = findDoubt(trimmed, tokens, language) ?? (asked && !polite ? 'question' : undefined);
  return { text: trimmed, tokens, end: spoken.at(-1)?.end ?? 0, language, doubt, ...setsOf(language) };
}

function setsOf(language: Language): Pick<Line, 'fillers' | 'commonWords' | 'determiners'> {
  const known = wordSets.get(language);
  if (known !== undefined) return known;
  const made = {
    fillers: new Set(wordList(language.fillers)),
    commonWords: new Set(wordList(language.commonWords)),
    determiners: new Set(wordList(language.determiners)),
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
    const opening = longest(tokens, language.openings);
    if (opening > 0 && opening < tokens.length) tokens = withoutLeading(tokens, opening);
    polite ||= opening > 1;
  }
  const gerund = longest(tokens, language.gerundOpenings);
  if (gerund > 0 && tokens[gerund]?.word.endsWith('ing') === true) {
    tokens = [baseForm(tokens[gerund] as Token), ...tokens.slice(gerund + 1)];
    polite = true;
  }
  return { tokens, polite };
}

function dropEndings(tokens: readonly Token[], phrases: readonly string[]): readonly Token[] {
  let kept = tokens;
  for (let length = -1; length !== kept.length; ) {
    length = kept.length;
    const closing = phrases.map((phrase) => endsWith(kept, phrase.split(' '))).reduce((a, b) => Math.max(a, b), 0);
    if (closing < kept.length) kept = kept.slice(0, kept.length - closing);
    kept = kept.slice(0, lastWord(kept) + 1);
  }
  return kept;
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
  let best = 0;
  for (const phrase of phrases) best = Math.max(best, startsWith(tokens, phrase.split(' '), 0));
  return best;
}

/** Number of tokens, with commas between, that `words` take at `at`; 0 when they do not stand there. */
export function startsWith(tokens: readonly Token[], words: readonly string[], at: number): number {
  let place = at;
  for (const word of words) {
    while (tokens[place]?.word === ',' && place > at) place += 1;
    if (tokens[place]?.word !== word || isQuote(tokens[place])) return 0;
    place += 1;
  }
  return place - at;
}

function endsWith(tokens: readonly Token[], words: readonly string[]): number {
  const at = tokens.length - words.length;
  return at > 0 && startsWith(tokens, words, at) === words.length ? words.length : 0;
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
  const lines = text
    .replace(/```[\s\S]*?```/g, '`code`')
    .split('\n')
    .filter((line) => line.trim() !== '');
  if (lines.length > 1 || text.length > LONGEST) return 'pasted';
  if (/<\/?\w+[^>]*>|\[\/?INST\]|<\|/.test(text) || hasPhrase(tokens, language.injections, 0)) return 'injection';
  if (hasPhrase(tokens, language.cancellations, 1)) return 'cancelled';
  return hasPhrase(tokens, language.conditions, 1) ? 'condition' : undefined;
}

function hasPhrase(tokens: readonly Token[], phrases: readonly string[], from: number): boolean {
  return phrases.some((phrase) => {
    const words = phrase.split(' ');
    return tokens.some(
      (token, index) => index >= from && token.word === words[0] && startsWith(tokens, words, index) > 0,
    );
  });
}
