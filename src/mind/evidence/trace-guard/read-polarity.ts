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

export interface Polarity {
  /** Lemma → bits of how it occurs. */
  readonly signs: ReadonlyMap<string, number>;
  /** Lemmas that say what the sentence is about. */
  readonly content: ReadonlySet<string>;
  readonly hasNegation: boolean;
  /** For scripts without blanks: is something denied? Undefined for others. */
  readonly dense: boolean | undefined;
}

const TOKEN = /[\p{L}\p{N}\p{M}_']+|[,():—–]/gu;
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
  return { ...reader.read(), hasNegation: reader.hasNegation || dense === true, dense };
}

class ClauseReader {
  readonly #signs = new Map<string, number>();
  readonly #content = new Set<string>();
  hasNegation = false;
  #items: Item[] = [];
  /** So many of the items are the subject of a verb that is denied: whether they are meant is open. */
  #subject = 0;
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
    const isBefore = this.#negators > 0 && this.#covered === 0;
    this.#items.forEach((item, at) => {
      if (isBefore) this.#keep({ ...item, denied: true });
      else this.#keep(at < this.#subject ? { ...item, open: true } : item);
    });
    this.#items = [];
    this.#subject = 0;
    this.#before = '';
    this.#words = 0;
    this.#negators = 0;
    this.#covered = 0;
    this.#open = false;
  }

  read(): Pick<Polarity, 'signs' | 'content'> {
    return { signs: this.#signs, content: this.#content };
  }

  #keep({ lemma, sign, denied, open, bare }: Item): void {
    const bits = (sign === 1) === denied ? DENIED : ASSERTED;
    this.#signs.set(lemma, (this.#signs.get(lemma) ?? 0) | (open ? OPEN : bits));
    if (!bare) this.#content.add(lemma);
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
    if (this.#negators === 0) return;
    const isInterjection = this.#words === this.#negators;
    if (this.#covered > 0 || isInterjection) this.close();
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
    if (isDenying(stem) || (stem === 'fail' && next === 'to')) {
      this.hasNegation = true;
      this.#negators += 1;
      this.#open = this.#negators > 1;
    }
  }
}
