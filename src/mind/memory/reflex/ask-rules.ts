// Owns the intents `know` and `why`: what is kept about something, and the source of the last answer or of a kept fact, all quoted.
// Invariant: a source is a call of this conversation, an entry with its file, or a stored message with its handle.
import type { ReflexInput, ReflexMatch, ReflexQuote, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import { type ToolResultPart, toolCalls } from '#core/model/message.ts';
import { foundMessages, quoteOf } from '#mind/sessions/reflex/session-quotes.ts';
import { matchEntries, overlap } from '../match-entries.ts';
import { FILES, type KeptEntry, keptEntries } from './kept-entries.ts';

const KNOW: readonly string[] = [
  'what [all|else|exactly] (do you|have you) (know|remember|remembered|kept|stored|noted|saved|got) [in memory|so far|already] =all:yes',
  '(show|list|print|read|open|display|see) [me] [all] [of] (your|my|the|our) [long term] (memory|memories|notes|kept facts) =all:yes',
  '(show|list|print) [me] (memory|memories|what you (know|remember)) =all:yes',
  'what is in [your|my|the] (memory|notes) =all:yes',
  '(what|everything|anything) [do] you (know|remember|have|kept|stored) (about|on|of) {topic:rest}',
  '(tell|show) [me] (what|everything) you (know|remember|have) (about|on|of) {topic:rest}',
  'do you (know|remember) (anything|something) about {topic:rest}',
  '(do you know|do you remember|tell me|remind me) (what|who|where|when|which) (my|our) {topic:words} (is|are|was)',
  '(what|who|when|which) (is|are|was) (my|our) {topic:rest}',
  'who am i =topic:me',
  '(what|which) {topic:words} do (i|we) (use|like|prefer|have|need|want|work with)',
  'where do (i|we) (live|work) [now] =topic:live',
  '(look up|look|check|search) [in] [your|my|the] (memory|notes) for {topic:rest}',
];
/** Asked of anything; ours only where an entry answers it. */
const ANYTHING: readonly string[] = [
  '(what|who|when|which|where) (is|are|was|were) {topic:rest}',
  '(which|what) {topic:rest}',
];
const SELF = /^(?:me|myself|who i am|my profile|the user|your owner|us)$/i;
const SHOWN = 3;

export const knowRule: ReflexRule = {
  purpose: 'memory',
  intent: 'know',
  effect: 'read',
  examples: ['what do you know about me', 'what do you remember about the server', 'show me your memory'],

  match(input) {
    const fit = input.fit(KNOW) ?? keptAnswer(input);
    const topic = fit?.slots.topic?.replace(/^(?:about|the|my|our|any)\s+/i, '').replace(/[?.!\s]+$/, '');
    return fit && { ...fit, slots: topic === undefined ? {} : { topic } };
  },

  restate: ({ slots }) => (slots.topic === undefined ? 'show me your memory' : `what do you know about ${slots.topic}`),

  act({ slots: { topic } }, input, [result]) {
    const entries = keptEntries(input);
    if (topic === undefined || SELF.test(topic))
      return sayAll(topic === undefined ? entries : entries.filter(({ target }) => target === 'user'));
    if (result === undefined && input.tools.has('session_search'))
      return { type: 'call', calls: [{ name: 'session_search', arguments: { query: topic } }] };
    const quotes = [...matchEntries(topic, entries).map(quoteEntry), ...saidAbout(input, result)];
    const text = quotes.length === 0 ? 'Nothing is kept about "{}".' : 'Kept about "{}":';
    return { type: 'say', text: text.replace('{}', () => topic), quotes };
  },
};

function keptAnswer(input: ReflexInput): ReflexMatch | undefined {
  const fit = input.fit(ANYTHING);
  const isKept =
    fit !== undefined && keptEntries(input).some(({ text }) => overlap(fit.slots.topic ?? '', text) > HALF);
  return isKept ? { ...fit, score: 0.95 } : undefined;
}

const HALF = 0.5;

function sayAll(entries: readonly KeptEntry[]): ReflexStep {
  const text = entries.length === 0 ? 'Nothing is kept in memory.' : 'Kept in memory:';
  return { type: 'say', text, quotes: entries.map(quoteEntry) };
}

function quoteEntry({ target, text }: KeptEntry): ReflexQuote {
  return { source: FILES[target], text };
}

function saidAbout(input: ReflexInput, result: ToolResultPart | undefined): readonly ReflexQuote[] {
  const found = result === undefined || result.isError ? [] : foundMessages(result.text);
  const said = found.filter(({ role, text }) => role !== 'assistant' && text !== input.text);
  return said.slice(0, SHOWN).map(quoteOf);
}

const WHY: readonly string[] = [
  '(why|how come) [so|is that|that]',
  '(why|how come|what makes) [do|did] you (think|say|believe|know|assume|remember|do|run) [so|that|this|it]',
  '(how|where) (do|did) you (know|get|have|learn|find) (that|this|it) [from]',
  '(what is|show [me]) (your|the|that) (source|evidence) [for that|of that]',
  '(source|sources|says who|who told you [that])',
];

export const whyRule: ReflexRule = {
  purpose: 'memory',
  intent: 'why',
  effect: 'read',
  examples: ['why do you think so', 'how do you know that'],
  match: (input) => input.fit(WHY),
  restate: () => 'why do you think so',

  act(_match, input) {
    const quotes = lastSources(input);
    return quotes.length === 0
      ? { type: 'say', text: 'My last answer rests on no stored source.' }
      : { type: 'say', text: 'It rests on this:', quotes };
  },
};

/** The calls and results of the turn before. */
function lastSources({ history }: ReflexInput): readonly ReflexQuote[] {
  const turn = history.slice(
    Math.max(
      0,
      history.findLastIndex(({ role }) => role === 'user'),
    ),
  );
  const calls = turn.flatMap(toolCalls);
  return turn.flatMap((message) => {
    if (message.role !== 'tool') return [];
    const [result] = message.parts;
    const given = calls.find(({ callId }) => callId === result.callId)?.arguments ?? {};
    const found = result.name === 'session_search' ? foundMessages(result.text).slice(0, SHOWN) : [];
    return found.length > 0
      ? found.map(quoteOf)
      : [{ source: `${result.name} ${JSON.stringify(given)}`, text: result.text }];
  });
}
