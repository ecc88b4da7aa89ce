// Owns the reflex rules for memory: remember, forget, know, why, undo (reflex 3). Invariant: an entry is the owner's own sentence.

import { type JsonObject, parseJsonObject } from '#base/json.ts';
import type {
  ReflexInput,
  ReflexMatch,
  ReflexQuestion,
  ReflexQuote,
  ReflexRule,
  ReflexStep,
} from '#core/agent/reflex-rule.ts';
import { type ToolCallPart, type ToolResultPart, toolCalls } from '#core/model/message.ts';
import { foundMessages, quoteOf } from '#mind/sessions/recall-rules.ts';
import {
  clearMatch,
  FILES,
  type KeptEntry,
  keptEntries,
  type MemoryWrite,
  matchEntries,
  memoryWrites,
  overlap,
  type Target,
  targetOf,
} from './kept-entries.ts';

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

const knowRule: ReflexRule = {
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

const whyRule: ReflexRule = {
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

const KEEP =
  '(remember|memorize|memorise|note|note down|keep in mind|do not forget|bear in mind|make a note|take a note|jot down|remind yourself|store|write down)';
const REMEMBER: readonly string[] = [
  `${KEEP} [of] [the fact] (that|:) {content:rest}`,
  '(note|fyi|for the record|for later|memo) : {content:rest}',
  '(save|store|add|write|put) [the fact] [that] {content:words} (to|in|into) [your|the|my|long term] (memory|notes|mind)',
  '(save|store|add|write|put) (to|in|into) [your|the|my] (memory|notes) [that] {content:rest}',
  '(remember|memorize|memorise|note|keep in mind|do not forget|note down|jot down) {content:rest}',
  '(remember|note|memorize) [this|that|it|something] !content',
];
/** What is to be done later rings nowhere; what is to be learned is a skill. */
const NO_FACT =
  /^(?:any|every|some)thing\b|^(?:to|when|what|how|why|who|where|if|whether|me|us|(?:this|that|it|these|those|them|him|her|everything)(?:\s+\w+)?|these steps\b.*|this as\b.*)$|^(?:to|when|what|how|why|who|where|if|whether|this as|these steps|it as|that as|as)\s|\?\s*$/i;
const rememberRule: ReflexRule = {
  purpose: 'memory',
  intent: 'remember',
  effect: 'home',
  examples: [
    'remember that my editor is vim',
    "don't forget that we deploy on Fridays",
    'note: the VPN is vpn.acme.io',
  ],

  match(input) {
    const fit = input.fit(REMEMBER);
    if (fit === undefined || fit.missing !== undefined) return fit;
    const content = (fit.slots.content ?? '').replace(/^[:\s]+|[\s,;:]+$/g, '').replace(/(?<=\w)[.!]+$/, '');
    if (NO_FACT.test(content)) return undefined;
    const words = content.split(/\s+/).length;
    if (words < 2 || /:\s*$/.test(input.text)) return { ...fit, slots: {}, missing: 'content' };
    const isShort = words < FEWEST_WORDS && !/\bthat\b|:/i.test(input.text);
    return { score: isShort ? 0.5 : fit.score, slots: { content } };
  },

  restate: ({ slots }) => `remember that ${slots.content}`,
  missing: () => ({
    type: 'ask',
    question: 'Remember what?',
    choices: ['what do you know about me'],
    fill: 'remember that {}',
  }),

  act({ slots: { content = '' } }, _input, [result]) {
    const target = targetOf(content);
    if (result !== undefined) return sayWritten('Remembered in {}:', { target, text: content }, result);
    return { type: 'call', calls: [{ name: 'memory', arguments: { action: 'add', target, content } }] };
  },
};

const FEWEST_WORDS = 3;
const FORGET: readonly string[] = [
  'forget (what|everything|all) (i|we) (said|told you) about {topic:rest}',
  '(forget|unlearn) [about] [that|the fact that|the note about|the note that] {topic:rest}',
  '(remove|delete|erase|drop|clear) {topic:words} from [your|the|my] (memory|notes|mind)',
  '(remove|delete|erase|drop) [the|my|your] (note|notes|memory|memories|entry|fact) (about|that|on) {topic:rest}',
  '(remove|delete|erase|drop) (what|everything|all) you (know|remember|have) about {topic:rest}',
  'stop remembering [that] {topic:rest}',
  'forget [something] !topic',
];
const EVERYTHING =
  /^(?:everything|all|it all|all of (?:it|that)|(?:all )?(?:your |my )?memor(?:y|ies)|everything about me|everything you know)(?:\s|$)/i;
const MOST = 4;

const forgetRule: ReflexRule = {
  purpose: 'memory',
  intent: 'forget',
  effect: 'home',
  examples: ['forget that my editor is vim', 'forget what I said about the server'],

  match(input) {
    const fit = input.fit(FORGET);
    return fit?.slots.topic === undefined ? fit : { ...fit, slots: { topic: fit.slots.topic.replace(/[.!\s]+$/, '') } };
  },

  missing: (_match, input) => ({
    ...askWhich('Forget what?', keptEntries(input).slice(-MOST)),
    fill: 'forget {}',
  }),

  restate: ({ slots }) => `forget that ${slots.topic}`,

  act({ slots }, input, [result]) {
    const entries = keptEntries(input);
    const { topic = '' } = slots;
    if (EVERYTHING.test(topic)) return refuseAll(entries);
    const meant = clearMatch(topic, entries);
    const found = matchEntries(topic, entries);
    if (meant === undefined && found.length > 1) return askWhich('Which entry?', found);
    if (meant === undefined) return { type: 'say', text: `Nothing that I keep is about "${topic}".` };
    const { target, text } = meant;
    if (result !== undefined) return sayWritten('Forgotten, from {}:', { target, text }, result);
    return { type: 'call', calls: [{ name: 'memory', arguments: { action: 'remove', target, old_text: text } }] };
  },
};

function askWhich(question: string, entries: readonly KeptEntry[]): ReflexQuestion {
  return { type: 'ask', question, choices: entries.slice(0, MOST).map(({ text }) => `forget that ${text}`) };
}

function refuseAll(entries: readonly KeptEntry[]): ReflexStep {
  const text =
    entries.length === 0 ? 'Nothing is kept in memory.' : 'I forget one entry at a time. These are the entries:';
  return { type: 'say', text, quotes: entries.map((entry) => ({ source: FILES[entry.target], text: entry.text })) };
}

const UNDO: readonly string[] = [
  'undo [the] [last] memory (change|entry|note|write) =memory:yes',
  '(undo|revert|reverse|roll back|rollback|take back) [that|it|this|[the|your|my|that|this] (last|previous) (one|change|thing|action|step|edit|note|entry)|[the|your|my] change|what you [just] did]',
  '(take|put|roll|change) (that|it|this) back',
  '(ctrl-z|ctrl+z)',
];
const NOTHING_TO_UNDO = 'There is no memory change in this conversation to undo.';
/** Tools that change something that memory cannot take back. */
const LASTING = new Set(['terminal', 'write_file', 'patch', 'todo']);

const undoRule: ReflexRule = {
  purpose: 'memory',
  intent: 'undo',
  effect: 'home',
  examples: ['undo that', 'take that back'],
  match: (input) => input.fit(UNDO),
  restate: ({ slots }) => (slots.memory === undefined ? 'undo that' : 'undo the last memory change'),

  act({ slots }, input, [result]) {
    const write = standingWrites(input).at(-1);
    const lasting = lastingCall(input);
    if (result === undefined && lasting !== undefined && slots.memory === undefined && lasting.at > (write?.at ?? -1))
      return cannotUndo(lasting.call, write);
    const inverse = write && inverseOf(write);
    if (write === undefined || inverse === undefined) return { type: 'say', text: NOTHING_TO_UNDO };
    if (result === undefined) return { type: 'call', calls: [{ name: 'memory', arguments: inverse }] };
    return sayWritten('Undone, in {}:', { target: write.target, text: write.before ?? write.after ?? '' }, result);
  },
};

/** Writes that no later one took back: an undo is the inverse of the last standing one. */
function standingWrites(input: ReflexInput): readonly MemoryWrite[] {
  const standing: MemoryWrite[] = [];
  for (const write of memoryWrites(input)) {
    const last = standing.at(-1);
    const isInverse =
      last !== undefined && last.target === write.target && last.after === write.before && last.before === write.after;
    if (isInverse) standing.pop();
    else standing.push(write);
  }
  return standing;
}

function inverseOf({ action, target, before, after }: MemoryWrite): JsonObject | undefined {
  if (action === 'add') return after === undefined ? undefined : { action: 'remove', target, old_text: after };
  if (before === undefined) return undefined;
  if (action === 'remove') return { action: 'add', target, content: before };
  return after === undefined ? undefined : { action: 'replace', target, old_text: after, content: before };
}

function lastingCall({ history }: ReflexInput): { readonly call: ToolCallPart; readonly at: number } | undefined {
  const at = history.findLastIndex((message) => toolCalls(message).some(({ name }) => LASTING.has(name)));
  const message = history[at];
  const call = message && toolCalls(message).findLast(({ name }) => LASTING.has(name));
  return call && { call, at };
}

function cannotUndo(call: ToolCallPart, write: MemoryWrite | undefined): ReflexStep {
  const what = call.arguments.command ?? call.arguments.path ?? '';
  const text = `This cannot be undone by me: ${`${call.name} ${typeof what === 'string' ? what : ''}`.trim()}\nWhat it did to files goes back with /undo.`;
  return write === undefined
    ? { type: 'say', text }
    : { type: 'ask', question: text, choices: ['undo the last memory change'] };
}

/** A fixed text with the entry under its file, or the refusal as the tool gave it. */
function sayWritten(
  template: string,
  entry: { readonly target: Target; readonly text: string },
  result: ToolResultPart,
): ReflexStep {
  const refusal = refusalOf(result);
  if (refusal !== undefined)
    return { type: 'say', text: 'Nothing changed.', quotes: [{ source: 'memory', text: refusal }] };
  const file = FILES[entry.target];
  return { type: 'say', text: template.replace('{}', file), quotes: [{ source: file, text: entry.text }] };
}

function refusalOf(result: ToolResultPart): string | undefined {
  const parsed = parseJsonObject(result.text);
  const failed =
    result.isError || result.observed.refused !== undefined || (parsed.ok && parsed.value.success === false);
  if (!failed) return undefined;
  return parsed.ok && typeof parsed.value.error === 'string' ? parsed.value.error : result.text;
}

export const memoryRules: readonly ReflexRule[] = [rememberRule, forgetRule, knowRule, whyRule, undoRule];
