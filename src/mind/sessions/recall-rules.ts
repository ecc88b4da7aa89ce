// Owns the reflex rule of this room, recall: what was said, by time, person and topic (reflex 4), quoted from what session_search answers.
// Knows no ranking and no database: session_search finds, this rule filters by day. Invariant: a quote is verbatim what the tool returned, under
// session, date and message id (reflex 7); what cannot be read is no quote.

import { instant, isoTime, localDate, parseTime } from '#base/clock.ts';
import { type JsonObject, type JsonValue, objectsOf, parseJsonObject, textOf } from '#base/json.ts';
import type { ReflexInput, ReflexMatch, ReflexQuote, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { type TimeWindow, timeWindow } from '#core/reflex/time-phrase.ts';

const TOOL = 'session_search';
const MOST = 10;
const SHOWN = 5;
const SESSIONS_READ = 3;

const SAY =
  '(say|decide|agree|discuss|settle|conclude|mention|talk|choose|plan|write|note|tell you|tell me|think|pick)';
const TALKS =
  '(conversations|conversation|sessions|session|chats|chat|history|talks|past conversations|old sessions|past sessions)';
const FORMS: readonly string[] = [
  '(open|show|read|resume) [me] [the] (session|conversation) {session:session}',
  '(show|open) [me] message {message:number} (of|in) [the] [session] {session:session}',
  `(list|show) [me] [all] [of] [my|our|your|the] [recent|last|past|previous|latest] ${TALKS} [{when:time}] =browse:yes`,
  `what (did|have) (we|i|you) [last] (do|done|talk about|talked about|work on|worked on|discuss|say|said) [{when:time}] =browse:yes`,
  `(search|look) [in|through] [my|our|your|the] [old|past|previous] ${TALKS} for {topic:words} [from] [{when:time}]`,
  `(find|look up|show) {topic:words} in [my|our|your|the] [old|past|previous] ${TALKS}`,
  `what (did|have|had) (we|i|you) [last|finally] ${SAY} [on|about|for|regarding|to do about] {topic:words} [{when:time}]`,
  `what (was|were) (said|decided|agreed|discussed) (about|on|for) {topic:words} [{when:time}]`,
  `what did {person:name} (say|tell|decide|want|write|mention) [me|us|you] (about|on|of) {topic:words} [{when:time}]`,
  'what did {person:name} (say|tell|decide|want|write) [me|us] [{when:time}] @0.9',
  `(when|where) did (we|i|you|{person:name}) [last] (talk about|discuss|mention|decide on|decide|say something about|speak about) {topic:words}`,
  `(did|have) (we|i|you) [ever] (talk about|talked about|discuss|discussed|mention|mentioned|decide on|decided on) {topic:words} [{when:time}]`,
  `did (i|we) (say|tell you|mention) [anything|something] about {topic:words} [{when:time}]`,
  `(recall|recap) [what (we|i|you) (said|decided|discussed|did) (about|on)|everything about|all about] {topic:words} [{when:time}]`,
  `remind me [of] (what (we|i|you) (said|decided|discussed|agreed|talked about) [about|on]|about) {topic:words} [{when:time}]`,
  `(do|can) you (remember|recall) (what (we|i|you) (said|decided|discussed|agreed) (about|on)|when (we|i) (talked|spoke) about|our (chat|talk|conversation) about) {topic:words} [{when:time}]`,
  `(our|the) (conversation|chat|talk|session|decision) (about|on) {topic:words} [{when:time}]`,
  '(recall|remind me) [something] !topic',
];

type Slots = ReflexMatch['slots'];

const recallRule: ReflexRule = {
  purpose: 'recall',
  intent: 'recall',
  effect: 'read',
  examples: [
    'what did we decide about the database last week',
    'when did we last talk about docker',
    'what did we do yesterday',
  ],

  match(input) {
    const fit = input.fit(FORMS);
    return fit && { ...fit, slots: tidy(fit.slots) };
  },

  restate({ slots }) {
    const { session, message, when } = slots;
    if (session !== undefined)
      return message === undefined ? `open the session ${session}` : `show message ${message} of session ${session}`;
    const time = when === undefined ? '' : ` ${when}`;
    if (queryOf(slots) === '') return when === undefined ? 'list our conversations' : `what did we talk about${time}`;
    return `search our conversations for ${queryOf(slots)}${time}`;
  },

  missing: () => ({ type: 'ask', question: 'Recall what?', choices: ['list our conversations'], fill: 'recall {}' }),

  act({ slots }, input, results) {
    const wrong = results.find((result) => result.isError);
    if (wrong !== undefined)
      return { type: 'say', text: 'The search failed.', quotes: [{ source: TOOL, text: wrong.text }] };
    if (slots.session !== undefined) return openSession(slots, results);
    return queryOf(slots) === '' ? browse(slots, input, results) : discover(slots, input, results);
  },
};

export const recallRules: readonly ReflexRule[] = [recallRule];

function queryOf({ person, topic }: Slots): string {
  return [person, topic].filter((part) => part !== undefined && part !== '').join(' ');
}

/** A topic without the small words at its beginning. */
function tidy(slots: Slots): Slots {
  if (slots.topic === undefined) return slots;
  return {
    ...slots,
    topic: slots.topic.replace(/^(?:(?:the|a|an|our|my|your|that|about|on|of)\s+)+/i, '').replace(/[?.!\s]+$/, ''),
  };
}

function windowOf({ when }: Slots, { now }: ReflexInput): TimeWindow | undefined {
  return when === undefined ? undefined : timeWindow(when, now);
}

function discover(slots: Slots, input: ReflexInput, [result]: readonly ToolResultPart[]): ReflexStep {
  const query = queryOf(slots);
  if (result === undefined)
    return {
      type: 'call',
      calls: [{ name: TOOL, arguments: { query, ...(slots.when === undefined ? {} : { limit: MOST }) } }],
    };
  const found = foundMessages(result.text).filter((message) => message.text !== input.text);
  const window = windowOf(slots, input);
  const inside = window === undefined ? found : found.filter((message) => isWithin(message, window));
  const span = window === undefined ? '' : ` (${slots.when})`;
  const quotes = (inside.length > 0 ? inside : found).slice(0, SHOWN).map(quoteOf);
  if (inside.length > 0) return { type: 'say', text: `Found for "${query}"${span}:`, quotes };
  const more = found.length === 0 ? '' : ' At other times:';
  return { type: 'say', text: `Nothing is stored about "${query}"${found.length === 0 ? '' : span}.${more}`, quotes };
}

function isWithin({ at }: Pick<FoundMessage, 'at'>, { from, to }: TimeWindow): boolean {
  return at >= from && at < to;
}

/** Recent sessions; with a time, the words of those days. */
function browse(slots: Slots, input: ReflexInput, [listed, ...read]: readonly ToolResultPart[]): ReflexStep {
  if (listed === undefined) return { type: 'call', calls: [{ name: TOOL, arguments: { limit: MOST } }] };
  const window = windowOf(slots, input);
  if (window === undefined)
    return { type: 'say', text: 'Recent conversations:', quotes: foundMessages(listed.text).map(quoteOf) };
  const ids = foundSessions(listed.text)
    .filter((session) => isWithin(session, window))
    .slice(0, SESSIONS_READ);
  if (ids.length === 0) return { type: 'say', text: `No conversation is stored for ${slots.when}.` };
  if (read.length === 0)
    return { type: 'call', calls: ids.map(({ id }) => ({ name: TOOL, arguments: { session_id: id } })) };
  const said = read
    .flatMap((result) => foundMessages(result.text))
    .filter(({ role, text }) => role === 'user' && text !== input.text);
  const quotes = said
    .filter((message) => isWithin(message, window))
    .slice(0, MOST)
    .map(quoteOf);
  return { type: 'say', text: `From ${slots.when}:`, quotes };
}

function openSession({ session = '', message }: Slots, [result]: readonly ToolResultPart[]): ReflexStep {
  const id = session.split(/[:/]/).at(-1) ?? '';
  if (result !== undefined)
    return { type: 'say', text: `Session ${id}:`, quotes: foundMessages(result.text).map(quoteOf) };
  const around = message === undefined ? {} : { around_message_id: Number(message) };
  return { type: 'call', calls: [{ name: TOOL, arguments: { session_id: id, ...around } }] };
}

export interface FoundMessage {
  readonly sessionId: string;
  /** Epoch ms; NaN when the answer gives no time. */
  readonly at: number;
  readonly messageId: number | undefined;
  readonly role: string;
  readonly text: string;
}

/** The hits of an answer, best first: the matched message itself, else the snippet or the session's first words. */
export function foundMessages(answer: string): readonly FoundMessage[] {
  const parsed = parseJsonObject(answer);
  if (!parsed.ok) return [];
  return objectsOf(parsed.value.results).flatMap((result) => {
    const matched = Number(result.match_message_id);
    const messages = [...objectsOf(result.messages), ...objectsOf(result.last_messages)];
    if (!Number.isNaN(matched))
      return [
        hitOf(
          result,
          messages.find((message) => Number(message.id) === matched),
        ),
      ];
    if (messages.length > 0) return messages.map((message) => messageOf(result, message));
    return [messageOf(result, { role: 'user', text: result.first ?? result.title ?? '', when: result.when })];
  });
}

/** Session ids of a browse, newest first, with their times. */
function foundSessions(answer: string): readonly { readonly id: string; readonly at: number }[] {
  const parsed = parseJsonObject(answer);
  if (!parsed.ok) return [];
  return objectsOf(parsed.value.results).map((result) => ({ id: textOf(result.session_id), at: timeOf(result.when) }));
}

export function quoteOf(message: FoundMessage): ReflexQuote {
  const day = Number.isNaN(message.at) ? '' : ` · ${dayOf(message.at)}`;
  const handle = message.messageId === undefined ? '' : ` · message ${message.messageId}`;
  return { source: `${message.sessionId}${day}${handle} · ${message.role}`, text: message.text };
}

/** Local calendar day and minute, `2026-05-03 14:05`. */
function dayOf(at: number): string {
  return Number.isFinite(localDate(at).year) ? instant(at).replace(/:\d+$/, '') : isoTime(0);
}

function hitOf(result: JsonObject, message: JsonObject | undefined): FoundMessage {
  const snippet = textOf(result.snippet).replaceAll('>>>', '').replaceAll('<<<', '');
  const own =
    message === undefined
      ? { role: result.matched_role, text: snippet, when: result.when, id: result.match_message_id }
      : message;
  return messageOf(result, own);
}

function messageOf(result: JsonObject, message: JsonObject): FoundMessage {
  const id = Number(message.id);
  return {
    sessionId: textOf(result.session_id),
    at: timeOf(message.when ?? result.when),
    messageId: message.id === undefined || Number.isNaN(id) ? undefined : id,
    role: textOf(message.speaker) || textOf(message.role),
    text: textOf(message.text).trim(),
  };
}

function timeOf(value: JsonValue | undefined): number {
  if (typeof value === 'number') return value < 1e11 ? value * 1000 : value;
  return parseTime(textOf(value)) ?? Number.NaN;
}
