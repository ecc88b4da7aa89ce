// Owns the intent `remember`: the owner's words become an entry, unchanged.
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import { targetOf } from './about-owner.ts';
import { forms, texts } from './english.ts';
import { sayWritten } from './memory-answer.ts';

/** Words that ask to be reminded of a time or told something: nothing that can be kept as a fact. */
const NO_FACT = /^(?:when|what|how|why|who|where|if|whether|me|the time|the day|us|to (?:breathe|smile))\b|\?\s*$/i;

export const rememberRule: ReflexRule = {
  purpose: 'memory',
  intent: 'remember',
  examples: [
    'remember that my editor is vim',
    'keep in mind that the server runs on port 8080',
    "don't forget that we deploy on Fridays",
    'note: the password file is in the vault',
  ],

  match(input) {
    const fit = input.fit(forms.remember);
    if (fit === undefined || fit.missing !== undefined) return fit;
    const content = (fit.slots.content ?? '').replace(/^[:\s]+/, '').replace(/[\s,;:]+$/, '');
    const words = content.split(/\s+/).length;
    if (NO_FACT.test(content) && fit.slots['content.quoted'] === undefined) return { score: 0.2, slots: { content } };
    return { score: fit.score * (words < 2 ? 0.6 : 1), slots: { content } };
  },

  restate: ({ slots }) => `remember that ${slots.content}`,

  missing: () => ({
    type: 'ask',
    question: 'Remember what?',
    choices: ['what do you know about me'],
    fill: 'remember that {}',
  }),

  act({ slots }, _input, results) {
    const content = slots.content ?? '';
    const target = targetOf(content);
    const [result] = results;
    if (result !== undefined) return sayWritten(texts.kept, { target, text: content }, result);
    return { type: 'call', calls: [{ name: 'memory', arguments: { action: 'add', target, content } }] };
  },
};
