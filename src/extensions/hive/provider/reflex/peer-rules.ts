// Owns the reflex rules over peers: what the model-free tier does with a line about them (reflex 4). Knows no transport; the six tools do.
// Invariants: a rule fits only where the tools are; a message is sent in the owner's own words; who is meant is said, never guessed.
import type { JsonObject } from '#base/json.ts';
import type { ReflexInput, ReflexMatch, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { answerWith, named, say, sayNews, sayPeer, sayPeers, sayTalk } from './peer-answers.ts';
import { peerLines, peerTexts } from './peer-lines.ts';

const SURE = 0.97;
const PASSED_ON: ReadonlySet<string> = new Set(['message', 'reason']);

export function peerRules(): readonly ReflexRule[] {
  return [listRule, messagesRule, talkRule, infoRule, tellRule, introduceRule, dismissRule];
}

const listRule: ReflexRule = {
  purpose: 'recall',
  intent: 'peers',
  effect: 'read',
  examples: ['who do I know?', 'list my peers'],
  match: (input) => (input.tools.has('hivemind_list_peers') ? input.fit(peerLines.list) : undefined),
  restate: () => 'list my peers',
  act: (_match, _input, results) => call('hivemind_list_peers', {}, results) ?? answerWith(last(results), sayPeers),
};

const messagesRule: ReflexRule = {
  purpose: 'recall',
  intent: 'peer-messages',
  effect: 'read',
  examples: ['any new messages?', 'check my messages'],
  match: (input) => (input.tools.has('hivemind_check_messages') ? input.fit(peerLines.messages) : undefined),
  restate: () => 'any new messages',
  act: (_match, _input, results) => call('hivemind_check_messages', {}, results) ?? answerWith(last(results), sayNews),
};

const talkRule: ReflexRule = {
  purpose: 'recall',
  intent: 'peer-talk',
  effect: 'read',
  examples: ['messages from hermes-of-carol', 'what did hermes-of-carol say?'],
  match: (input) => read(input, 'hivemind_check_messages', peerLines.messagesWith),
  restate: ({ slots }) => `messages from ${slots.peer}`,
  act: ({ slots }, _input, results) =>
    call('hivemind_check_messages', { peer: slots.peer ?? '' }, results) ?? answerWith(last(results), sayTalk),
};

const infoRule: ReflexRule = {
  purpose: 'recall',
  intent: 'peer-info',
  effect: 'read',
  examples: ['who is hermes-of-carol?', 'tell me about hermes-of-carol'],
  match: (input) => read(input, 'hivemind_get_peer_info', peerLines.info),
  restate: ({ slots }) => `who is ${slots.peer}`,
  act: ({ slots }, _input, results) =>
    call('hivemind_get_peer_info', { peer: slots.peer ?? '' }, results) ?? answerWith(last(results), sayPeer),
};

const tellRule: ReflexRule = {
  purpose: 'act',
  intent: 'tell-peer',
  effect: 'write',
  examples: ['tell hermes-of-carol: the audit is on Friday', 'send "see you on Friday" to hermes-of-carol'],
  match: (input) => read(input, 'hivemind_send_to_peer', peerLines.tell),
  restate: ({ slots }) => `tell ${slots.peer}: ${slots.message}`,
  act: (match, input, results) => {
    const { peer = '', message = '' } = match.slots;
    const words = passedOn(message, match, input);
    if (words === undefined) return shownFirst(`tell ${peer}: ${message}`);
    return (
      call('hivemind_send_to_peer', { peer, message: unquoted(words) }, results) ??
      answerWith(last(results), () => say(named(peerTexts.sent, peer)))
    );
  },
};

const introduceRule: ReflexRule = {
  purpose: 'act',
  intent: 'introduce-peers',
  effect: 'write',
  examples: [
    'introduce hermes-of-bob and hermes-of-carol',
    'introduce hermes-of-bob to hermes-of-carol: she can audit his compiler',
  ],
  match: (input) => read(input, 'hivemind_introduce_peers', peerLines.introduce),
  restate: ({ slots: { a, b, reason } }) => `introduce ${a} and ${b}${reason === undefined ? '' : `: ${reason}`}`,
  act: (match, input, results) => {
    const { a = '', b = '', reason } = match.slots;
    const why = reason === undefined ? '' : passedOn(reason, match, input);
    if (why === undefined) return shownFirst(`introduce ${a} and ${b}: ${reason}`);
    const args = { peer_a: a, peer_b: b, ...(why === '' ? {} : { reason: why }) };
    return (
      call('hivemind_introduce_peers', args, results) ??
      answerWith(last(results), () => say(named(peerTexts.introduced, a, b)))
    );
  },
};

const dismissRule: ReflexRule = {
  purpose: 'act',
  intent: 'dismiss-suggestion',
  effect: 'write',
  examples: [
    'dismiss the suggestion of hermes-of-bob and hermes-of-carol',
    'decline the introduction of hermes-of-bob and hermes-of-carol',
  ],
  match: (input) => read(input, 'hivemind_dismiss_spark', peerLines.dismiss),
  restate: ({ slots }) => `dismiss the suggestion of ${slots.a} and ${slots.b}`,
  act: ({ slots: { a = '', b = '' } }, _input, results) =>
    call('hivemind_dismiss_spark', { peer_a: a, peer_b: b }, results) ??
    answerWith(last(results), (answer) =>
      say(named(matched(answer) ? peerTexts.dismissed : peerTexts.neverSuggested, a, b)),
    ),
};

/** The line, politeness taken off, by the first pattern that it fits; named groups are the slots. */
function read(input: ReflexInput, tool: string, patterns: readonly RegExp[]): ReflexMatch | undefined {
  if (!input.tools.has(tool) || input.words.length > 40_000) return undefined;
  for (const pattern of patterns) {
    const groups = pattern.exec(input.words.trim())?.groups;
    if (groups !== undefined) return { score: SURE, slots: given(groups, input) };
  }
  return undefined;
}

function given(
  groups: Readonly<Record<string, string | undefined>>,
  { text, words }: ReflexInput,
): Readonly<Record<string, string>> {
  const slots: Record<string, string> = {};
  for (const [name, value] of Object.entries(groups)) {
    if (value === undefined || value === '') continue;
    const isOpen = PASSED_ON.has(name) && words.replace(/[.!?\s]*$/, '').endsWith(value);
    slots[name] = isOpen ? `${value}${closing(text, value)}` : value;
    if (isOpen) slots.open = 'yes';
  }
  return slots;
}

function closing(text: string, words: string): string {
  return /^[.!?…]*/.exec(text.slice(text.lastIndexOf(words) + words.length))?.[0] ?? '';
}

/**
 * Words to be passed on, as they stand in the line that was typed: where nothing comes after them they run to its very end, since no thanks
 * and no question mark of theirs is manners towards us. Undefined: a reading of the line changed them.
 */
function passedOn(words: string, { slots }: ReflexMatch, { text }: ReflexInput): string | undefined {
  const at = text.lastIndexOf(words);
  if (at < 0) return undefined;
  return slots.open === undefined ? words : text.slice(at).trim();
}

function shownFirst(line: string): ReflexStep {
  return { type: 'ask', question: peerTexts.whichWords, choices: [line] };
}

/** The call, as long as it was not made. */
function call(name: string, args: JsonObject, results: readonly ToolResultPart[]): ReflexStep | undefined {
  return results.length === 0 ? { type: 'call', calls: [{ name, arguments: args }] } : undefined;
}

function last(results: readonly ToolResultPart[]): ToolResultPart {
  const result = results.at(-1);
  if (result === undefined) throw new RangeError('an answer needs a result');
  return result;
}

function unquoted(message: string): string {
  return (
    /^(?:"([^"]+)"|“([^”]+)”)$/s
      .exec(message)
      ?.slice(1)
      .find((text) => text !== undefined) ?? message
  );
}

function matched(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'matched' in answer && answer.matched !== 0;
}
