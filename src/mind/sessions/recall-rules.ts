// Owns the reflex rule of this room, recall: what was said, by time, person and topic (reflex 4).
// Knows no ranking: session_search finds, this rule filters by day and quotes. Invariant: an answer is quotes with session, date and message.
import type { ReflexInput, ReflexMatch, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { english } from '#core/reflex/english/english.ts';
import { type TimeWindow, timeWindow } from '#core/reflex/line/time-phrase.ts';
import { recallForms, WORLD } from './reflex/english.ts';
import { cueOf } from './reflex/recall-cue.ts';
import { type FoundMessage, foundMessages, foundSessions, quoteOf } from './reflex/session-quotes.ts';

const TOOL = 'session_search';
const MOST = 10;
const SHOWN = 5;
const SESSIONS_READ = 3;
/** A topic of so many words is a sentence, and recall a guess. */
const LONG_TOPIC = 12;

type Slots = Readonly<Record<string, string>>;

const recallRule: ReflexRule = {
  purpose: 'recall',
  intent: 'recall',
  effect: 'read',
  examples: [
    'what did we decide about the database last week',
    'when did we last talk about docker',
    'search our conversations for backups',
    'what did we do yesterday',
  ],

  match(input) {
    const fit = input.fit(recallForms);
    if (fit === undefined || ORDER.test(input.words)) return undefined;
    const slots = tidy(fit.slots);
    if (ORDER_WORD.test(slots.topic ?? '')) return undefined;
    const long = (slots.topic ?? '').split(' ').length > LONG_TOPIC ? 0.6 : 1;
    const runsOn = OTHER_REQUEST.test(fit.slots.topic ?? '') ? 0.55 : 1;
    const open = queryOf(slots) === '' && [slots.when, slots.browse, slots.session].every((slot) => slot === undefined);
    return {
      score:
        fit.score *
        runsOn *
        long *
        (open ? 0.7 : 1) *
        ownWords(slots.topic ?? '', input.words) *
        cueOf(slots, input.words),
      slots,
      ...(open ? { missing: 'topic' } : {}),
    };
  },

  restate({ slots }) {
    if (slots.session !== undefined)
      return slots.message === undefined
        ? `open the session ${slots.session}`
        : `show message ${slots.message} of session ${slots.session}`;
    const when = slots.when === undefined ? '' : ` ${slots.when}`;
    if (queryOf(slots) === '') return when === '' ? 'list our conversations' : `what did we talk about${when}`;
    return `search our conversations for ${queryOf(slots)}${when}`;
  },

  missing: () => ({
    type: 'ask',
    question: 'Recall what?',
    choices: ['list our conversations'],
    fill: 'search our conversations for {}',
  }),

  act(match, input, results) {
    const failed = results.find((result) => result.isError);
    if (failed !== undefined)
      return { type: 'say', text: 'The search failed.', quotes: [{ source: TOOL, text: failed.text }] };
    if (match.slots.session !== undefined) return openSession(match.slots, results);
    return queryOf(match.slots) === '' ? browse(match.slots, input, results) : discover(match, input, results);
  },
};

export const recallRules: readonly ReflexRule[] = [recallRule];

function queryOf(slots: Slots): string {
  return [slots.person, slots.topic, slots.more?.replace(/^(?:the|a|an|our|my)\s+/i, '')]
    .filter((part) => part !== undefined && part !== '')
    .join(' ');
}

/** Less likely the past of this conversation: the owner's self, files, and a "remember" of what everybody knows. */
function ownWords(topic: string, words: string): number {
  if (isWorld(topic, words) || /^what (?:did|does) (?:he|she|they) (?:say|mean|want|think|do)\W*$/i.test(words))
    return 0.5;
  if (/^(?:me|myself|remember|know|recall)\b/i.test(topic) || LIFE.test(topic)) return 0.5;
  if (
    /^(?:do|can) you (?:remember|recall)\b/i.test(words) &&
    !/\b(?:we|i|my|our|us|me|last|yesterday|told|said|ago|session|conversation|chat)\b/i.test(topic + words.slice(16))
  )
    return 0.5;
  if (/^(?:what|how) (?:did|do) you (?:think|feel|like)\b/i.test(words)) return 0.5;
  if (
    NOT_OURS.test(words) &&
    !/\b(?:we|i|my|our|us|me|last|yesterday|ago|today|session|conversation|chat)\b/i.test(words.slice(8))
  )
    return 0.5;
  if (/\b(?:in|inside|of) (?:the |my |our )?(?:folder|directory|file)\b|\b(?:folder|directory|file)$/i.test(topic))
    return 0.6;
  return /\*|\.\w{1,5}(?:\s|$)/.test(topic) ? 0.85 : 1;
}

/** An order about what is kept is never a question about what was said: it is followed, or asked about. */
const ORDER =
  /^(?:(?:please|pls|just|and|so|ok|okay|now|then|also|can you|could you) )*(?:forget|correct|note|memori[sz]e|store|keep|unlearn|erase|delete|remove|update|change|replace|remember(?! (?:when|what|how|where|which|who|why|that (?:\w+ ){1,6}(?:we|you|i)\b)))\b/i;
/** The verb of such an order, left over as a topic. */
const ORDER_WORD = /^(?:forget|remember|correct|memori[sz]e|unlearn|undo)\b/i;

/** What somebody lived, not what was said here. */
const LIFE =
  /^(?:(?:my|the|our|your) )?(?:childhood|youth|school days|(?:grand)?(?:mother|father|ma|pa|parents)|mom|mum|dad|ex|first love|good old days|home|nineties|eighties|seventies|nobody|somebody|someone)\b/i;

/** The topic runs on into a request of its own. */
const OTHER_REQUEST =
  /[,;:.!]\s+(?:(?:please|now|then|so|could you|can you|kindly|just)\s+)*(?:show|list|run|open|read|find|search|print|display|execute|grep|look|check|save|remember|forget|give|tell|cat|ls|undo|what do you (?:know|have|remember)|who is|what is in|what['’]s in)\b/i;

const OURS = /\b(?:we|i|my|our|us|me)\b/i;

/** What history, the news and books tell: no conversation of the owner's. */
function isWorld(topic: string, words: string): boolean {
  const spoken = words.replace(/"[^"]*"|“[^”]*”|'[^']*'/g, ' ');
  if (OURS.test(spoken)) return false;
  return (
    WORLD.test(words) ||
    /^(?:in |at |of )?(?:1\d|20)\d\d$/.test(topic) ||
    /^who (?!is\b|are\b|did\b|was\b|were\b|has\b|had\b)/i.test(spoken)
  );
}

/** An opinion of the agent, what the world did, or who coined a phrase. */
const NOT_OURS =
  /^(?:what|how|when|where|why) (?:did|do|have|were|are) you (?!say|said|tell|told|suggest|recommend|propose|mention|decide|write|claim|promise|find|do\b|answer|report|note|call|run|show|talk)|^(?:what|when|why|how) did we (?:do to deserve|get here|become|evolve|go wrong)\b|\bwhat you (?:think|feel|like)\b|\byou (?:know|learn(?:ed|t)?|remember(?:ed)?|stored?|noted|kept) about (?:me|myself)\b|^who (?:wrote|made|built|invented|won|founded|discovered|created|started|painted|composed|directed)\b|^(?:what|when|why|how|where) (?:do|are|did|have|had|were) (?:they|people|humans|scientists)\b|^who (?:said|wrote|told) ["'“]/i;

/** A topic without the small words at its ends; a phrase of time at its end counts as the time. */
function tidy(slots: Slots): Slots {
  if (slots.topic === undefined) return slots;
  const topic = slots.topic
    .replace(/[,;]\s*(?:what|when|how|who|where|which|do you|did we)\b.*$/i, '')
    .replace(/^(?:(?:the|a|an|our|my|your|this|that|any|some|it|to|about|on|of|for|with|from|in|we|i|you)\s+)+/i, '')
    .replace(/\s+(?:before|already|yet|again|ever|then|about|on|for|with|at|in|to|of)$/i, '');
  return {
    ...slots,
    topic:
      /^(?:it|that|this|them|her|him|us|you|someone|somebody|(?:the |that |this )?(?:thing|stuff|guy|word|doc|document)|anything|something|what|we|i|from|in|on|about|of|for|so|to|me|do|got|had|have|done|there|here|yet|ever|already|before|again|then|now)$/i.test(
        topic,
      )
        ? ''
        : topic,
  };
}

function windowOf(slots: Slots, input: ReflexInput): TimeWindow | undefined {
  return slots.when === undefined ? undefined : timeWindow(slots.when, input.now, english);
}

function discover({ slots }: ReflexMatch, input: ReflexInput, results: readonly ToolResultPart[]): ReflexStep {
  const query = queryOf(slots);
  const [result] = results;
  if (result === undefined) {
    const newest = slots.when === undefined ? {} : { limit: MOST };
    return { type: 'call', calls: [{ name: TOOL, arguments: { query, ...newest } }] };
  }
  const found = foundMessages(result.text).filter((message) => message.text !== input.text);
  return sayFound(found, { about: query, when: slots.when, window: windowOf(slots, input) });
}

interface Asked {
  readonly about: string;
  readonly when: string | undefined;
  readonly window: TimeWindow | undefined;
}

function sayFound(found: readonly FoundMessage[], asked: Asked): ReflexStep {
  const { window } = asked;
  const inside =
    window === undefined ? found : found.filter((message) => message.at >= window.from && message.at < window.to);
  const span = asked.when === undefined || window === undefined ? '' : ` (${asked.when})`;
  if (inside.length > 0)
    return { type: 'say', text: `Found for "${asked.about}"${span}:`, quotes: inside.slice(0, SHOWN).map(quoteOf) };
  if (found.length === 0) return { type: 'say', text: `Nothing is stored about "${asked.about}".` };
  return {
    type: 'say',
    text: `Nothing is stored about "${asked.about}"${span}. At other times:`,
    quotes: found.slice(0, SHOWN).map(quoteOf),
  };
}

/** Recent sessions; with a time, the words of those days. */
function browse(slots: Slots, input: ReflexInput, results: readonly ToolResultPart[]): ReflexStep {
  const [listed, ...read] = results;
  if (listed === undefined) return { type: 'call', calls: [{ name: TOOL, arguments: { limit: MOST } }] };
  const window = windowOf(slots, input);
  if (window === undefined)
    return { type: 'say', text: 'Recent conversations:', quotes: foundMessages(listed.text).map(quoteOf) };
  const ids = foundSessions(listed.text)
    .filter(({ at }) => at >= window.from && at < window.to)
    .slice(0, SESSIONS_READ);
  if (ids.length === 0) return { type: 'say', text: `No conversation is stored for ${slots.when}.` };
  if (read.length === 0)
    return { type: 'call', calls: ids.map(({ id }) => ({ name: TOOL, arguments: { session_id: id } })) };
  const said = read
    .flatMap((result) => foundMessages(result.text))
    .filter((message) => message.role === 'user' && message.text !== input.text);
  return {
    type: 'say',
    text: `From ${slots.when}:`,
    quotes: said
      .filter(({ at }) => at >= window.from && at < window.to)
      .slice(0, MOST)
      .map(quoteOf),
  };
}

function openSession(slots: Slots, results: readonly ToolResultPart[]): ReflexStep {
  const id = (slots.session ?? '').split(/[:/]/).at(-1) ?? '';
  const [result] = results;
  const around = slots.message === undefined ? {} : { around_message_id: Number(slots.message) };
  if (result === undefined) return { type: 'call', calls: [{ name: TOOL, arguments: { session_id: id, ...around } }] };
  return { type: 'say', text: `Session ${id}:`, quotes: foundMessages(result.text).map(quoteOf) };
}
