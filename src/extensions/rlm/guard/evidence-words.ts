// Owns whether the text of one piece of evidence says what a claim says: the claim is whole sentences of it, lines or items, and nothing else.
// Knows no ids, no surfaces, no verdict. A `FACT:<id> ` prefix, white space, case, quotation marks and a full stop at the end do not count.
// Invariant: no word is weighed; linear; an evidence without words supports none.
import { foldText } from '#mind/evidence/trace-guard/fold-text.ts';
import { WholeQuotes } from '../text/whole-quotes.ts';

export class EvidenceWords {
  readonly #tag: string;
  readonly #text: string;
  #quotes: WholeQuotes | undefined;

  constructor(factId: string, text: string) {
    this.#tag = `FACT:${factId}`;
    this.#text = text;
  }

  /** Words of the evidence, none left out of a sentence and none added. */
  says(statement: string): boolean {
    if (statement === this.#text) return true;
    const said = this.#untagged(statement);
    if (said === '') return true;
    this.#quotes ??= new WholeQuotes(this.#untagged(this.#text), foldWords);
    return this.#quotes.find(said)?.isWhole === true;
  }

  #untagged(text: string): string {
    const bare = text.trim().replace(/^["'“„»«]+/, '');
    const isTagged = bare.slice(0, this.#tag.length).toLowerCase() === this.#tag.toLowerCase();
    return isTagged && /^$|^[\s:]/.test(bare.slice(this.#tag.length))
      ? bare.slice(this.#tag.length).trim()
      : text.trim();
  }
}

const QUOTATION_MARKS = /["'`‘’‚‛“”„‟‹›«»′″ʼ＂＇「」『』]/gu;

/** Texts that differ in white space, case and quotation marks alone fold to the same. */
function foldWords(text: string): string {
  return foldText(text.replace(QUOTATION_MARKS, ''));
}
