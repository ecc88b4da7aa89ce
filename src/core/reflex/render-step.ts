// Owns how a step reads: text, quotes with their source, numbered choices.
// Invariant: foreign text stands indented under its source, so that it can never look like a question of ours.
import type { ReflexQuote, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { Language } from './language.ts';

const MAX_LINES = 200;
const MAX_LINE = 2000;

export function renderStep(step: Exclude<ReflexStep, { type: 'call' }>, language: Language): string {
  const { templates } = language;
  if (step.type === 'say')
    return [step.text, ...(step.quotes ?? []).map((quote) => renderQuote(quote, language))]
      .filter((part) => part !== '')
      .join('\n\n');
  const choices = [...step.choices, templates.nothing].map(
    (choice, index) => `${index + 1}) ${choice.replace(/\s*\n\s*/g, ' ')}`,
  );
  return [step.question, ...choices, templates.howToChoose].join('\n');
}

function renderQuote(quote: ReflexQuote, language: Language): string {
  const lines = quote.text.split('\n');
  const shown = lines
    .slice(0, MAX_LINES)
    .map((line) => `  ${line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line}`.trimEnd());
  const left = lines.length - shown.length;
  if (left > 0) shown.push(`  ${language.templates.moreLines.replace('{}', String(left))}`);
  return [`${quote.source}`, ...shown].join('\n');
}
