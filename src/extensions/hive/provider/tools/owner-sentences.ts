// Owns how typed lines are read as orders: which sentences are the owner's own, and what makes one no order (ADR 0023). English; another
// language finds no order and is asked. Pure, bounded. Invariant: what could be a quotation, a question, a report or a refusal is no order.
import { foldName } from '../../peers/fold-name.ts';

export interface OwnerSentence {
  /** Folded; a quotation of more than one word is `"…"`. */
  readonly text: string;
  /** False after a colon, in a quoted line or behind a fence: words that may be somebody else's. */
  readonly isOwn: boolean;
}

const LONGEST = 50_000;
const QUOTATION = /"[^"\n]{0,1000}"|“[^”\n]{0,1000}”|«[^»\n]{0,1000}»|„[^“”\n]{0,1000}[“”]/gu;
const SENTENCE_END = /(?<=[.!?]["”]?)\s+|\s*\n\s*/u;
/** From there on somebody else may be speaking. */
const FOREIGN_FROM = /:["”]?(?:\s|$)/u;
const FOREIGN_LINE = /^\s*(?:>|\||```|~~~|-{3})/u;

/** None when there is more than one can judge. */
export function ownerSentences(typed: readonly string[]): readonly OwnerSentence[] {
  return typed.some((text) => text.length > LONGEST) ? [] : typed.flatMap(sentencesOf);
}

function sentencesOf(typed: string): readonly OwnerSentence[] {
  const words = foldName(typed).replace(QUOTATION, (quotation) => (/\s/u.test(quotation) ? '"…"' : quotation));
  let isOwn = true;
  return words.split(SENTENCE_END).flatMap((part) => {
    const text = part.trim();
    if (text === '') return [];
    if (FOREIGN_LINE.test(text)) isOwn = false;
    const sentence = { text, isOwn };
    if (FOREIGN_FROM.test(text) || isLeftOpen(text)) isOwn = false;
    return [sentence];
  });
}

/** A quotation begins that goes on behind the sentence. */
function isLeftOpen(sentence: string): boolean {
  const count = (marks: RegExp) => sentence.match(marks)?.length ?? 0;
  return count(/"/g) % 2 === 1 || count(/[“«„]/g) > count(/[”»]/g);
}

const AGAINST =
  /\b(?:not|never|nobody|no|none|nothing|nowhere|neither|nor|without|cannot|except|unless|instead|rather|avoid|refuse|refrain|stop|cancel|forbid|forbidden|(?:do|does|did|ca|wo|would|should|must|need|is|are)nt)\b|n['’]t\b/u;

export function isRefusal(sentence: string): boolean {
  return AGAINST.test(sentence);
}

/** Somebody else's order, a condition, a doubt, or words of an open quotation. */
const NO_ORDER =
  /["“”«»„:>|`]|\b(?:said|says|saying|told|tells|asked|asks|wrote|writes|written|wants|wanted|claims?|claimed|suggests?|suggested|mentioned|mentions|requests?|requested|reported|according|supposed|if|before|until|till|when|whenever|should|shall|may|might|must|who|whom|whose)\b/u;
const QUESTION = /^(?:what|why|how|which|where|do|does|did|is|are|am|was|were|has|have|had)\b/u;
const ASKED_TO_ACT =
  /(?:^|\b(?:hey|please|and|then|so|ok|okay)\s+|,\s*)(?:(?:can|could|will) you|would you (?:please|kindly))\s+(?:(?:please|kindly|just|now|also|then)\s+)*$/u;
const OPEN_QUESTION = /\b(?:can|could|will|would)\b(?!\s+you\b)/u;

/** `head`: what stands before the verb; `rest`: the sentence from the verb on, without the words to be passed on. */
export function isOrder(head: string, rest: string): boolean {
  if (isRefusal(head) || isRefusal(rest) || NO_ORDER.test(head) || QUESTION.test(head) || OPEN_QUESTION.test(head))
    return false;
  return !rest.includes('?') || ASKED_TO_ACT.test(head);
}

/** Where a verb orders: at the beginning, or behind a comma or one of these words. `(?<head>…)` ends before the verb. */
export const ORDER_HEAD = String.raw`(?<=^|[,;]\s*|(?:^|\s)(?:and|then|also|please|kindly|just|now|you|you to|hey|ok|okay|yes|so|well|first|next|finally)[,]?\s+)`;
