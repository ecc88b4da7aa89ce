// Owns whether the text of one piece of evidence says what a claim says. Knows no ids, no surfaces, no verdict.
// A `FACT:<id> ` prefix, white space, case and quotation marks do not count; words and numbers are never cut. What is neither all of the
// evidence nor a quotation goes through the house's gate: nothing may be added that the evidence does not say, nor denied what it says.
// A part of a sentence is not said where the rest of the sentence turns or limits it: `coffee harms` of `it is a myth that coffee harms`.
// Invariant: linear; an evidence without words supports none.
import { checkClaims } from '#mind/evidence/trace-guard/check-claims.ts';
import type { ClaimPolicy } from '#mind/evidence/trace-guard/claim.ts';
import { findQuote } from '#mind/evidence/trace-guard/find-quote.ts';
import { foldWords } from './fold-words.ts';
import { leftOutWords } from './left-out-words.ts';
import { sentenceRanges, sentencesAround, type TextRange } from './sentence-ranges.ts';
import { turningWords } from './turning-words.ts';

/** Around the words of the evidence others may stand, as many at most; numbers, ids and names must be those of the evidence. */
const POLICY: ClaimPolicy = { origins: ['model'], minQuoteWords: 1, minSupport: 0.5 };

export class EvidenceWords {
  readonly #tag: string;
  readonly #text: string;
  readonly #prefix: string;
  #folded: string | undefined;
  #sentences: readonly TextRange[] | undefined;

  constructor(factId: string, text: string) {
    this.#tag = `FACT:${factId}`;
    this.#text = text;
    this.#prefix = `${foldWords(this.#tag)} `;
  }

  /** Do these words stand here as they are, in a sentence that says them? */
  holds(quote: string): boolean {
    if (quote === this.#text) return true;
    const folded = foldWords(quote);
    return folded === '' || this.#stands(folded) || this.#stands(this.#strip(folded));
  }

  /** Is this said here? Words of the evidence, or the evidence with words around it. */
  says(statement: string): boolean {
    if (statement === this.#text) return true;
    const said = this.#strip(foldWords(statement));
    if (said === '') return true;
    const whole = this.#strip(this.#words());
    if (said === whole) return true;
    if (!this.#stands(said) && findQuote(said, whole).length === 0) return false;
    return turningWords(said, this.#words()).length === 0 && this.#passesGate(statement);
  }

  #words(): string {
    this.#folded ??= foldWords(this.#text);
    return this.#folded;
  }

  #stands(folded: string): boolean {
    return findQuote(this.#words(), folded).some((start) => this.#isWhole({ start, end: start + folded.length }));
  }

  #isWhole(part: TextRange): boolean {
    // Its own id is no word of the sentence.
    const tag = this.#words().startsWith(this.#prefix) ? this.#prefix.length : 0;
    if (part.end <= tag) return true;
    this.#sentences ??= foldedSentences(this.#text, this.#words());
    const around = sentencesAround(this.#sentences, part);
    const start = Math.max(around.start, Math.min(tag, part.start));
    const own = { start: part.start - start, end: part.end - start };
    return leftOutWords(this.#words().slice(start, around.end), own).length === 0;
  }

  #strip(folded: string): string {
    return folded.startsWith(this.#prefix) ? folded.slice(this.#prefix.length) : folded;
  }

  #passesGate(statement: string): boolean {
    const source = [this.#text, this.#tag].map((text) => ({ text, origin: 'model' as const }));
    const claim = { id: '', text: statement, citations: [{ handle: '', quote: this.#text }] };
    return checkClaims([{ handle: '', texts: source }], [claim], POLICY)[0]?.accepted === true;
  }
}

/** Where the sentences of the text stand in its folded form; lines end there no more. */
function foldedSentences(text: string, folded: string): readonly TextRange[] {
  const ranges: TextRange[] = [];
  let at = 0;
  for (const { start, end } of sentenceRanges(text)) {
    const length = foldWords(text.slice(start, end)).length;
    if (length === 0) continue;
    if (folded[at] === ' ') at += 1;
    ranges.push({ start: at, end: at + length });
    at += length;
  }
  return at === folded.length ? ranges : [{ start: 0, end: folded.length }];
}
