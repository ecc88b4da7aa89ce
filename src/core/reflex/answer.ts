// Owns how a step reads and how an answer to a numbered question is read: a number, yes or no, or the words of one choice.
// Knows no rule. Invariants: foreign text stands indented under its source, so that it never looks like a question of ours; an answer
// that fits no choice, or more than one, chooses nothing.
import type { ReflexQuestion, ReflexQuote, ReflexStep } from '#core/agent/reflex-rule.ts';
import { type Message, messageText } from '#core/model/message.ts';
import { AROUND_NUMBER, NO, ORDINALS, TEXTS, YES } from './words.ts';

export const REFLEX_ID = 'reflex/1';
const MAX_LINES = 200;
const MAX_LINE = 2000;
const MOST_FILL_WORDS = 8;

export function renderStep(step: Exclude<ReflexStep, { type: 'call' }>): string {
  if (step.type === 'say')
    return [step.text, ...(step.quotes ?? []).map(renderQuote)].filter((part) => part !== '').join('\n\n');
  const choices = [...step.choices, TEXTS.nothing].map(
    (choice, index) => `${index + 1}) ${choice.replace(/\s*\n\s*/g, ' ')}`,
  );
  return [step.question, ...choices, TEXTS.howToChoose].join('\n');
}

function renderQuote({ source, text }: ReflexQuote): string {
  const lines = text.split('\n');
  const shown = lines
    .slice(0, MAX_LINES)
    .map((line) => `  ${line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line}`.trimEnd());
  const left = lines.length - shown.length;
  return [source, ...shown, ...(left > 0 ? [`  ${TEXTS.moreLines.replace('{}', String(left))}`] : [])].join('\n');
}

/** No rule fits the line. */
export function isRefusal(message: Message): boolean {
  return isOurs(message) && messageText(message).startsWith(TEXTS.refusal);
}

/** A rule fits, but its tool is not there, or it took too many steps. */
export function isStopped(message: Message): boolean {
  const text = messageText(message);
  const [before = '', after = ''] = TEXTS.toolMissing.split('{}');
  return isOurs(message) && (text === TEXTS.tooManySteps || (text.startsWith(before) && text.endsWith(after)));
}

function isOurs(message: Message): boolean {
  return message.role === 'assistant' && message.model === REFLEX_ID;
}

export type Answer =
  | { readonly type: 'choice' | 'fill'; readonly line: string }
  | { readonly type: 'none' }
  | { readonly type: 'no-answer' };

export function readAnswer(text: string, { choices, fill }: ReflexQuestion): Answer {
  const said = plain(text);
  const words = said.split(' ');
  if (NO.has(said)) return { type: 'none' };
  const number = YES.has(said) && choices.length === 1 ? 1 : chosenNumber(words, choices.length);
  if (number !== undefined && number > choices.length) return { type: 'none' };
  const line = number === undefined ? chosenByWords(words, choices) : choices[number - 1];
  if (line !== undefined) return { type: 'choice', line };
  if (fill === undefined || words.length > MOST_FILL_WORDS || YES.has(said) || /[\n`]/.test(fill))
    return { type: 'no-answer' };
  return { type: 'fill', line: fill.replace('{}', () => text.trim()) };
}

/** The last number, one past the choices, is "nothing". */
function chosenNumber(words: readonly string[], choices: number): number | undefined {
  const rest = words.length === 1 ? words : words.filter((word) => !AROUND_NUMBER.has(word));
  const [only = ''] = rest;
  const value = /^\d$/.test(only) ? Number(only) : Object.hasOwn(ORDINALS, only) ? ORDINALS[only] : undefined;
  if (rest.length !== 1 || value === undefined || value > choices + 1 || value === 0) return undefined;
  return value < 0 ? choices : value;
}

function chosenByWords(words: readonly string[], choices: readonly string[]): string | undefined {
  const meaningful = words.filter((word) => word.length > 2);
  const holding = choices.filter((choice) => {
    const own = plain(choice).split(' ');
    return meaningful.length > 0 && meaningful.every((word) => own.includes(word));
  });
  return holding.length === 1 ? holding[0] : undefined;
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/\bdon['’]?t\b/g, 'do not')
    .replace(/[^\p{L}\p{N}./_*-]+/gu, ' ')
    .replace(/[.]+( |$)/g, ' ')
    .trim();
}
