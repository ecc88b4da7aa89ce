// Owns which words a sentence asserts and which it denies. Knows no claim and no quote. A negator denies the words after it in its
// clause (before it, when none follow); two of them, or an `and` in between, leave open what is meant.
// Invariant: total and linear; every content word of the sentence has signs.
import { splitWords } from '#base/text/split-words.ts';
import { stemWord } from '#base/text/stem-word.ts';
import { isStopStem } from '#base/text/stop-words.ts';
import { plainQuotes } from './fold-text.ts';
import { DENSE_SCRIPT, isDenselyNegated, isDenying, isNegator, isVerbal, oppositeOf } from './polar-words.ts';

/** Bits of how a word occurs; both: it is open which. */
const ASSERTED = 1;
const DENIED = 2;
export const OPEN = 3;

/** A stretch of a sentence in which a negator reaches as far as it goes. */
export interface Clause {
  /** Lemma → bits of how it occurs. */
  readonly signs: ReadonlyMap<string, number>;
  /** Lemmas that say what it is about. */
  readonly content: ReadonlySet<string>;
}

export interface Polarity {
  readonly clauses: readonly Clause[];
  readonly hasNegation: boolean;
  /** For scripts without blanks: is something denied? Undefined for others. */
  readonly dense: boolean | undefined;
}

/** What is joined by marks (flags, paths, names) is one word, and no negator. */
const TOKEN = /-{0,2}[\p{L}\p{N}\p{M}_']+(?:[-./@:][\p{L}\p{N}\p{M}_']+)*|[,():—–]/gu;
const BREAKS = new Set(
  'but however although though while whereas yet because so then if when aber sondern mais pero ma но'.split(' '),
);
const JOINS = new Set('and or und oder et y o e и или'.split(' '));
const PREFERRING = new Set('prefer choose favor favour pick rather'.split(' ').map(stemWord));

interface Item {
  readonly lemma: string;
  readonly sign: 1 | -1;
  /** A word of place or time that is about nothing by itself. */
  readonly bare: boolean;
  readonly denied: boolean;
  readonly open: boolean;
}

export function readPolarity(sentence: string): Polarity {
  const reader = new ClauseReader();
  const tokens = plainQuotes(sentence).toLowerCase().match(TOKEN) ?? [];
  tokens.forEach((token, at) => {
    reader.take(token.replaceAll("'", ''), { next: tokens[at + 1] ?? '', raw: token });
  });
  reader.close();
  const dense = DENSE_SCRIPT.test(sentence) ? isDenselyNegated(sentence) : undefined;
  return { clauses: reader.clauses, hasNegation: reader.hasNegation || dense === true, dense };
}

class ClauseReader {
  readonly clauses: Clause[] = [];
  hasNegation = false;
  #items: Item[] = [];
  /** So many of the items are the subject of a verb that is denied: whether they are meant is open. */
  #subject = 0;
  /** So many of the items stand before the last comma. */
  #sinceMark = 0;
  #before = '';
  #words = 0;
  #negators = 0;
  #covered = 0;
  #open = false;

  take(word: string, { next, raw }: { readonly next: string; readonly raw: string }): void {
    if (/^[,():—–]$/.test(raw)) this.#mark();
    else if (BREAKS.has(word)) this.close();
    else this.#takeWord(raw.endsWith("'s") ? word.slice(0, -1) : word, next);
  }

  /** Ends the scope of what was said so far. */
  close(): void {
    const from = this.#negators > 0 && this.#covered === 0 ? this.#sinceMark : this.#items.length;
    const items = this.#items.map((item, at) => {
      if (at >= from) return { ...item, denied: true };
      return at < this.#subject ? { ...item, open: true } : item;
    });
    if (items.length > 0) this.clauses.push(clauseOf(items));
    this.#items = [];
    this.#subject = 0;
    this.#sinceMark = 0;
    this.#before = '';
    this.#words = 0;
    this.#negators = 0;
    this.#covered = 0;
    this.#open = false;
  }

  #takeWord(word: string, next: string): void {
    this.#words += 1;
    if (this.#isNegation(word, next)) {
      this.#negate(word);
      return;
    }
    this.#before = word;
    if (JOINS.has(word) && this.#negators > 0 && this.#covered > 0) this.#open = true;
    for (const part of splitWords(word)) this.#add(stemWord(part), next);
  }

  #mark(): void {
    const isInterjection = this.#words === this.#negators;
    if (this.#negators > 0 && (this.#covered > 0 || isInterjection)) this.close();
    else this.#sinceMark = this.#items.length;
  }

  #isNegation(word: string, next: string): boolean {
    if (word === 'instead') return next === 'of';
    if (word === 'rather') return next === 'than';
    if (word === 'over') return this.#items.some(({ lemma }) => PREFERRING.has(lemma) || lemma === '±like');
    return isNegator(word) && !(word === 'not' && (next === 'only' || next === 'just'));
  }

  #negate(word: string): void {
    this.hasNegation = true;
    if (word === 'nor' && this.#negators > 0) return;
    if (isVerbal(word, this.#before)) this.#subject = this.#items.length;
    this.#negators += 1;
    this.#open = this.#negators > 1;
  }

  #add(stem: string, next: string): void {
    const pair = oppositeOf(stem);
    const bare = isStopStem(stem);
    if (bare && pair === undefined) return;
    const denied = this.#negators % 2 === 1;
    this.#items.push({
      lemma: pair?.lemma ?? stem,
      sign: pair?.sign ?? 1,
      bare,
      denied,
      open: this.#open && pair === undefined,
    });
    if (this.#negators > 0 && !bare) this.#covered += 1;
    if (isDenying(stem) || (stem === 'fail' && next === 'to') || (stem === 'stop' && next.endsWith('ing'))) {
      this.hasNegation = true;
      this.#negators += 1;
      this.#open = this.#negators > 1;
    }
  }
}

function clauseOf(items: readonly Item[]): Clause {
  const signs = new Map<string, number>();
  for (const { lemma, sign, denied, open } of items) {
    const bits = (sign === 1) === denied ? DENIED : ASSERTED;
    signs.set(lemma, (signs.get(lemma) ?? 0) | (open ? OPEN : bits));
  }
  return { signs, content: new Set(items.flatMap(({ lemma, bare }) => (bare ? [] : [lemma]))) };
}
