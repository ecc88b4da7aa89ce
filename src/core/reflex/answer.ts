// Owns how a step reads and how an answer to a numbered question is read: a number, yes or no, or words that the question has a place for.
// Knows no rule. Invariants: foreign text stands indented under its source, so that it never looks like a question of ours; an answer that
// is no number of a choice chooses nothing.
import type { ReflexQuestion, ReflexQuote, ReflexStep } from '#core/agent/reflex-rule.ts';
import { type Message, messageText } from '#core/model/message.ts';
import { NO, TEXTS, YES } from './words.ts';

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
  // The last number, one past the choices, is "nothing".
  const number = YES.has(said) && choices.length === 1 ? 1 : Number(/^(?:option |number )?(\d)$/.exec(said)?.[1] ?? 0);
  if (NO.has(said) || number === choices.length + 1) return { type: 'none' };
  const line = choices[number - 1];
  if (line !== undefined) return { type: 'choice', line };
  if (fill === undefined || said.split(' ').length > MOST_FILL_WORDS || YES.has(said) || /[\n`]/.test(fill))
    return { type: 'no-answer' };
  return { type: 'fill', line: fill.replace('{}', () => text.trim()) };
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/\bdon['’]?t\b/g, 'do not')
    .replace(/[^\p{L}\p{N}./_*-]+/gu, ' ')
    .replace(/[.]+( |$)/g, ' ')
    .trim();
}
