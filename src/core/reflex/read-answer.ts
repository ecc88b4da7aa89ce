// Owns the reading of an answer to a numbered question: a number, yes or no, or the words of one choice.
// Knows no rule. Invariant: an answer that fits no choice, or more than one, chooses nothing.
import type { ReflexQuestion } from '#core/agent/reflex-rule.ts';
import type { Language } from './language.ts';

export type Answer =
  | { readonly type: 'choice'; readonly line: string }
  | { readonly type: 'none' }
  /** The line fills what the question left open. */
  | { readonly type: 'fill'; readonly line: string }
  | { readonly type: 'no-answer' };

const SHORT = 8;

export function readAnswer(text: string, question: ReflexQuestion, language: Language): Answer {
  const said = plain(text);
  const words = said.split(' ');
  if (language.answers.no.includes(said)) return { type: 'none' };
  if (language.answers.yes.includes(said)) return first(question);
  const number = chosenNumber(words, question.choices.length, language);
  if (number !== undefined) return number > question.choices.length ? { type: 'none' } : pick(question, number - 1);
  const byWords = chosenByWords(words, question.choices);
  if (byWords !== undefined) return pick(question, byWords);
  if (question.fill === undefined || words.length > SHORT || /[\n`]/.test(question.fill)) return { type: 'no-answer' };
  return { type: 'fill', line: question.fill.replace('{}', () => text.trim()) };
}

/** "yes" means the first choice only where there is just one. */
function first(question: ReflexQuestion): Answer {
  return question.choices.length === 1 ? pick(question, 0) : { type: 'no-answer' };
}

function pick(question: ReflexQuestion, index: number): Answer {
  const line = question.choices[index];
  return line === undefined ? { type: 'no-answer' } : { type: 'choice', line };
}

/** The last number, one past the choices, is "nothing". */
function chosenNumber(words: readonly string[], choices: number, language: Language): number | undefined {
  const around = new Set(language.answers.around.split(' '));
  const rest = words.filter((word) => !around.has(word) || (words.length === 1 && word in language.answers.ordinals));
  const only = rest.length === 1 ? rest[0] : undefined;
  if (only === undefined) return undefined;
  const value = Number(/^\d$/.test(only) ? only : language.answers.ordinals[only]);
  if (Number.isNaN(value) || value > choices + 1 || value === 0) return undefined;
  return value < 0 ? choices : value;
}

function chosenByWords(words: readonly string[], choices: readonly string[]): number | undefined {
  const meaningful = words.filter((word) => word.length > 2);
  if (meaningful.length === 0) return undefined;
  const holding = choices.flatMap((choice, index) => {
    const own = plain(choice).split(' ');
    return meaningful.every((word) => own.includes(word)) ? [index] : [];
  });
  return holding.length === 1 ? holding[0] : undefined;
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/\bdon't\b/g, 'do not')
    .replace(/[^\p{L}\p{N}./_*-]+/gu, ' ')
    .replace(/[.]+( |$)/g, ' ')
    .trim();
}
