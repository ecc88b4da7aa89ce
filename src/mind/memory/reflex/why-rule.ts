// Owns the intent `why`: the source of the last answer, or where a kept fact was said.
// Invariant: a source is a call of this conversation with its arguments, an entry with its file, or a stored message with its handle.
import type { ReflexInput, ReflexQuote, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import { type Message, messageText, toolCalls } from '#core/model/message.ts';
import { foundMessages, quoteOf } from '#mind/sessions/reflex/session-quotes.ts';
import { forms, texts } from './english.ts';
import { FILES, keptEntries } from './kept-entries.ts';
import { matchEntries } from './match-entries.ts';

const SHOWN = 3;
/** Just why, with no answer before it that could have a source. */
const BARE = /^(?:tell me |huh\W*|what\W*|wait\W*|hm+\W*|eh\W*|oh\W*|sorry\W*)?(?:why|how come)(?: me| not)?\W*$/i;
/** What I did, when I did nothing. */
const DEED =
  /\byou (?:do|did|done|run|ran|doing|choose|pick|show|give|change|save|forget|search|open|list|read|decide)\b/i;
/** A belief about the owner or something named; what everybody may think is no memory. */
const OURS = /\b(?:[Ii]|[Ii]['’]m|[Mm]y|we|our|me|us|mine)\b|(?:^|\s)\p{Lu}\p{L}/u;

export const whyRule: ReflexRule = {
  purpose: 'memory',
  intent: 'why',
  effect: 'read',
  examples: ['why do you think so', 'how do you know that', 'where did you get that from'],

  match(input) {
    const fit = input.fit(forms.why);
    if (fit === undefined) return undefined;
    const { last, topic } = fit.slots;
    if (fit.slots.asked !== undefined)
      return { score: lastQuestion(input) === undefined ? 0.5 : fit.score, slots: fit.slots };
    if ((BARE.test(input.words) || DEED.test(input.words)) && !input.history.some((message) => message.role === 'tool'))
      return { score: 0.5, slots: { last: 'yes' } };
    if (last !== undefined || topic === undefined) return { ...fit, slots: { last: 'yes' } };
    const ours = OURS.test(topic) || matchEntries(topic, keptEntries(input)).length > 0;
    return { score: ours ? fit.score : fit.score * 0.5, slots: { topic } };
  },

  restate({ slots }) {
    if (slots.asked !== undefined) return 'why are you asking that';
    return slots.topic === undefined ? 'why do you think so' : `why do you think that ${slots.topic}`;
  },

  act({ slots }, input, results) {
    const question = slots.asked === undefined ? undefined : lastQuestion(input);
    if (question !== undefined) return { type: 'say', text: texts.asked, quotes: [question] };
    if (slots.topic === undefined) return sourceOfLast(input);
    const [result] = results;
    if (result === undefined && input.tools.has('session_search')) {
      return { type: 'call', calls: [{ name: 'session_search', arguments: { query: slots.topic } }] };
    }
    const entries = matchEntries(slots.topic, keptEntries(input)).map((entry) => ({
      source: FILES[entry.target],
      text: entry.text,
    }));
    const said = foundMessages(result?.text ?? '').filter(
      (message) => message.role !== 'assistant' && message.text !== input.text,
    );
    return sayQuotes([...entries, ...said.slice(0, SHOWN).map(quoteOf)]);
  },
};

/** The last numbered question of this conversation, without its choices. */
function lastQuestion(input: ReflexInput): ReflexQuote | undefined {
  const asked = input.history
    .flatMap((message) => (message.role === 'assistant' ? [messageText(message)] : []))
    .findLast((said) => CHOICES.test(said));
  const text = asked?.slice(0, asked.search(CHOICES)).trim();
  return text === undefined ? undefined : { source: 'reflex/1', text };
}

const CHOICES = /^1\) /m;

/** The calls and results of the turn before. */
function sourceOfLast(input: ReflexInput): ReflexStep {
  const start = input.history.findLastIndex((message) => message.role === 'user');
  return sayQuotes(callQuotes(input.history.slice(Math.max(0, start))));
}

function callQuotes(turn: readonly Message[]): readonly ReflexQuote[] {
  const calls = turn.flatMap(toolCalls);
  return turn.flatMap((message) => {
    if (message.role !== 'tool') return [];
    const [result] = message.parts;
    const call = calls.find((one) => one.callId === result.callId);
    const found = result.name === 'session_search' ? foundMessages(result.text).slice(0, SHOWN) : [];
    if (found.length > 0) return found.map(quoteOf);
    return [{ source: `${result.name} ${JSON.stringify(call?.arguments ?? {})}`, text: result.text }];
  });
}

function sayQuotes(quotes: readonly ReflexQuote[]): ReflexStep {
  return quotes.length === 0 ? { type: 'say', text: texts.noSource } : { type: 'say', text: texts.source, quotes };
}
