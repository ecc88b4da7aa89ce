// Owns the rules that a line leaves in play: a question of how to do something leaves those about the agent itself,
// a request to understand a text takes those away that act or read. Knows no rule by name.
// Invariant: what needs understanding is refused, however well its words fit a form (reflex 9).
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import type { Language } from '../language.ts';
import { maskQuotes } from './mask-quotes.ts';
import { peelLine } from './peel-line.ts';
import { NAMES } from './readings.ts';

const LONGEST = 2000;

export function withinReach(rules: readonly ReflexRule[], text: string, language: Language): readonly ReflexRule[] {
  if (text.length > LONGEST) return rules;
  const { beyond, layers } = language;
  const views = [peelLine(text, layers), text.trim()].map((view) => maskQuotes(view).replace(NAMES, 'it'));
  if (views.every((view) => beyond.wanted.test(view))) return rules;
  const asks = (patterns: readonly RegExp[]): boolean =>
    patterns.some((pattern) => views.some((view) => pattern.test(view)));
  if (asks(beyond.howTo))
    return rules.filter(({ purpose }) => purpose === 'meta' || purpose === 'memory' || purpose === 'recall');
  return asks(beyond.understanding) ? rules.filter(({ purpose }) => purpose !== 'act' && purpose !== 'extract') : rules;
}
