// Owns the intent `know`: what is kept about something, from the memory files and from stored conversations, quoted.
import type { ReflexInput, ReflexQuote, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { english } from '#core/reflex/english/english.ts';
import { isVagueName } from '#core/reflex/line/vague-name.ts';
import { foundMessages, quoteOf } from '#mind/sessions/reflex/session-quotes.ts';
import { forms, texts } from './english.ts';
import { FILES, type KeptEntry, keptEntries } from './kept-entries.ts';
import { matchEntries } from './match-entries.ts';

const SELF = /^(?:me|myself|my self|who i am|i|my profile|the user|your user|your owner)$/i;
/** Of these nobody keeps a note: what is asked for is advice. */
const ADVICE =
  /^(?:best |main |real |actual |other )?(?:options?|chances?|rights|odds|next steps?|choices|alternatives|problem|mistakes?|purpose|issue|weakness(?:es)?|strengths?)\b/i;
const SHOWN = 3;

export const knowRule: ReflexRule = {
  purpose: 'memory',
  intent: 'know',
  effect: 'read',
  examples: [
    'what do you know about me',
    'what do you remember about the server',
    'show me your memory',
    'what is my editor',
  ],

  match(input) {
    const fit = input.fit(forms.know);
    if (fit === undefined) return undefined;
    const topic = (fit.slots.topic ?? '')
      .replace(/^(?:about|the|my|our|any|that)\s+/i, '')
      .replace(/\s+(?:so far|then|already|by now|yet|again|exactly|at all|these days)$/i, '')
      .trim();
    if (topic !== '' && (/^in\b/i.test(topic) || (!SELF.test(topic) && isVagueName(topic, english))))
      return { score: fit.score * 0.5, slots: { topic } };
    if (isElsewhere(topic, input.words)) return { score: fit.score * 0.5, slots: { topic } };
    const more = /[?!.:]\s+\S/.test(topic) ? 0.5 : 1;
    return { score: fit.score * more, slots: topic === '' ? { all: 'yes' } : { topic } };
  },

  restate: ({ slots }) => (slots.topic === undefined ? 'show me your memory' : `what do you know about ${slots.topic}`),

  act({ slots }, input, results) {
    const entries = keptEntries(input);
    if (slots.topic === undefined) return sayAll(entries);
    if (SELF.test(slots.topic)) return sayAll(entries.filter((entry) => entry.target === 'user'));
    const [result] = results;
    if (result === undefined && input.tools.has('session_search')) {
      return { type: 'call', calls: [{ name: 'session_search', arguments: { query: slots.topic } }] };
    }
    return sayKnown(slots.topic, input, result);
  },
};

/** Advice, what stands in a file, and `what you've got`: no note of the owner's. */
function isElsewhere(topic: string, words: string): boolean {
  if (/\bin \S+\.\w{1,5}$|^(?:got|have|had|done)$/i.test(topic)) return true;
  if (/^(?:tell me )?(?:something|anything|more|a bit)\b/i.test(words)) return /\S\.\w{1,5}$/.test(topic);
  return ADVICE.test(topic) && /^what\b/i.test(words);
}

function sayAll(entries: readonly KeptEntry[]): ReflexStep {
  return { type: 'say', text: entries.length === 0 ? texts.nothingKept : texts.all, quotes: entries.map(quoteEntry) };
}

function sayKnown(topic: string, input: ReflexInput, result: ToolResultPart | undefined): ReflexStep {
  const entries = matchEntries(topic, keptEntries(input)).map(quoteEntry);
  const found = result === undefined || result.isError ? [] : foundMessages(result.text);
  const said = found
    .filter((message) => message.role !== 'assistant' && message.text !== input.text)
    .slice(0, SHOWN)
    .map(quoteOf);
  const quotes = [...entries, ...said];
  return {
    type: 'say',
    text: (quotes.length === 0 ? texts.nothingKnown : texts.known).replace('{}', () => topic),
    quotes,
  };
}

function quoteEntry(entry: KeptEntry): ReflexQuote {
  return { source: FILES[entry.target], text: entry.text };
}
