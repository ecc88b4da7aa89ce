// Owns the form in which claim and evidence are compared: the house's folding without any quotation mark. Knows no claim.
// Invariant: total and linear; texts that differ in white space, case and quotation marks alone fold to the same.
import { foldText } from '#mind/evidence/trace-guard/fold-text.ts';

const QUOTATION_MARKS = /["'`‘’‚‛“”„‟‹›«»′″ʼ＂＇「」『』]/gu;

export function foldWords(text: string): string {
  return foldText(text.replace(QUOTATION_MARKS, ''));
}
