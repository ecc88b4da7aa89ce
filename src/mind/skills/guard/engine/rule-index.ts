// Owns the finding of the rules that a unit could match at all: by its words. Knows no meaning.
// Invariant: one pass over the text of a unit, whatever the number of rules.
import type { Rule } from '../rules/rule.ts';

export interface RuleIndex {
  readonly byWord: ReadonlyMap<string, readonly number[]>;
  readonly foreign: readonly number[];
  /** Rules that are found by signs instead of words. */
  readonly bySign: readonly { readonly sign: string; readonly rule: number }[];
  readonly rules: readonly Rule[];
}

export function ruleIndex(rules: readonly Rule[]): RuleIndex {
  const byWord = new Map<string, number[]>();
  const foreign: number[] = [];
  const bySign: { sign: string; rule: number }[] = [];
  rules.forEach((rule, at) => {
    if (rule.words.includes('*')) foreign.push(at);
    for (const word of rule.words) {
      if (word.startsWith('=')) bySign.push({ sign: word.slice(1), rule: at });
      const numbers = byWord.get(word);
      if (numbers === undefined) byWord.set(word, [at]);
      else numbers.push(at);
    }
  });
  return { byWord, foreign, bySign, rules };
}

const WORD = /[a-z][a-z0-9]+/g;
const FOREIGN_LETTER = /(?!\p{ASCII})\p{L}/u;

/** Numbers of the rules whose words or signs occur in the text. */
export function candidateRules(index: RuleIndex, text: string): readonly number[] {
  const found: number[] = [];
  for (const word of text.match(WORD) ?? []) {
    const rules = index.byWord.get(word);
    if (rules !== undefined) found.push(...rules);
  }
  for (const { sign, rule } of index.bySign) if (text.includes(sign)) found.push(rule);
  if (FOREIGN_LETTER.test(text)) found.push(...index.foreign);
  return found.length < 2 ? found : [...new Set(found)];
}
