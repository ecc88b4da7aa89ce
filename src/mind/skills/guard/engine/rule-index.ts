// Owns the finding of the rules that a unit could match at all: by its words. Knows no meaning.
// Invariant: one pass over the text of a unit, whatever the number of rules.
import type { Rule } from '../rules/rule.ts';

export interface RuleIndex {
  readonly byWord: ReadonlyMap<string, readonly number[]>;
  readonly foreign: readonly number[];
  readonly rules: readonly Rule[];
}

export function ruleIndex(rules: readonly Rule[]): RuleIndex {
  const byWord = new Map<string, number[]>();
  const foreign: number[] = [];
  rules.forEach((rule, at) => {
    if (rule.words.includes('*')) foreign.push(at);
    for (const word of rule.words) {
      const numbers = byWord.get(word);
      if (numbers === undefined) byWord.set(word, [at]);
      else numbers.push(at);
    }
  });
  return { byWord, foreign, rules };
}

const WORD = /[a-z][a-z0-9]+/g;
const NOT_ASCII = /[^\x00-\x7F«»]/;

/** Numbers of the rules whose words occur in the text, ascending. */
export function candidateRules(index: RuleIndex, text: string): readonly number[] {
  let found: Set<number> | undefined;
  for (const word of text.match(WORD) ?? []) {
    const rules = index.byWord.get(word);
    if (rules === undefined) continue;
    found ??= new Set();
    for (const rule of rules) found.add(rule);
  }
  if (index.foreign.length > 0 && NOT_ASCII.test(text)) {
    found ??= new Set();
    for (const rule of index.foreign) found.add(rule);
  }
  return found === undefined ? [] : [...found];
}
