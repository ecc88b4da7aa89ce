// Owns the intent `forget`: one entry goes, the one that the owner's words mean.
// Invariant: several candidates lead to a question; everything at once is never removed.
import type { ReflexInput, ReflexMatch, ReflexQuestion, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import { type ToolResultPart, toolCalls } from '#core/model/message.ts';
import { english } from '#core/reflex/english/english.ts';
import { isVagueName } from '#core/reflex/line/vague-name.ts';
import { targetOf } from './about-owner.ts';
import { forms, texts } from './english.ts';
import { FILES, type KeptEntry, keptEntries, memoryWrites, type Target } from './kept-entries.ts';
import { clearMatch, matchEntries } from './match-entries.ts';
import { isVague } from './meant-words.ts';
import { candidatesOf, isNotFound, sayWritten } from './memory-answer.ts';

const EVERYTHING =
  /^(?:everything|all|all of it|it all|all of that|all memories|all your memories|everything about me|all you know)\b.{0,24}$/i;
const IDIOM =
  /,\s*(?:i['’]?m|i am|i|it['’]?s|let['’]?s|we)\b|^(?:the (?:past|rest|world|pain|whole thing|idea|thought)\b|what (?:to|they|he|she|people|everyone)\b|.*\band move on\b|we (?:ever|never|all)\b|your \w+(?=$|[,.!;]))|^(?:it|that)\b.*\bit\b$|^(?:it|that|this|you|me|him|her|them|us)\s*(?:[,.!;]|not$)|^(?:it|about it|that|this|you|to|how|why|what|when|me|him|her|them|us|the rules)$/i;
/** `let us forget …` is said to friends. */
const TOGETHER =
  /^\W*(?:(?:so|ok|okay|well|oh|come on|please|now|and|hey)\W+)*(?:let['’]?s|let us|we (?:should|can|could|must|will|all))\b/i;
/** `you need not remember X` forbids nothing that is kept already; with `any more` it does. */
const UNFORGETTING = /^(?!.*(?:any ?(?:more|longer)|no longer|\bstop\b|\bquit\b))(?:.*\bnot\b|.*n['’]t\b|no need)/i;
/** `forget about dinner`: one common word, nobody's note. */
const BARE = /^\p{L}+ (?:about )?\p{Ll}+(?:$|[,.!;]| for (?:a|an|now|the|once|today|tonight)\b)/u;
/** Something that nobody has named yet. */
const INDEFINITE = /^(?:about )?(?:an?|some|any|no|every|each) /i;
const MOST = 4;

export const forgetRule: ReflexRule = {
  purpose: 'memory',
  intent: 'forget',
  effect: 'home',
  examples: [
    'forget that my editor is vim',
    'forget what I said about the server',
    'remove the note about Fridays from your memory',
  ],

  match(input) {
    const fit = input.fit(forms.forget);
    if (fit === undefined) return undefined;
    const topic = (fit.slots.topic ?? '')
      .replace(
        /^(?:(?:what|everything|all|anything) (?:i|you|we) (?:said|told you|know|wrote|noted|mentioned|have)(?: (?:stored|down))? (?:about|on)|about|that|the fact that|my note that)\s+/i,
        '',
      )
      .replace(/\s+(?:too|as well|also|again|please|now|already)$/i, '')
      .trim();
    const { last } = fit.slots;
    if (last !== undefined) return { score: isFresh(input) ? fit.score : 0.5, slots: { last } };
    if (isVague(topic) || namesNothing(topic)) return { score: fit.score, slots: {}, missing: 'topic' };
    const loose =
      IDIOM.test(topic) ||
      INDEFINITE.test(topic) ||
      BARE.test(input.words) ||
      TOGETHER.test(input.text) ||
      UNFORGETTING.test(input.words);
    return { score: loose && matchEntries(topic, keptEntries(input)).length === 0 ? 0.3 : fit.score, slots: { topic } };
  },

  missing: (_match, input) => ({
    type: 'ask',
    question: 'Forget what?',
    choices: [
      ...keptEntries(input)
        .slice(-MOST)
        .map((entry) => `forget that ${entry.text}`),
      'what do you know about me',
    ].slice(0, MOST),
    fill: 'forget {}',
  }),

  restate: ({ slots }) => (slots.last === undefined ? `forget that ${slots.topic}` : 'forget the last note'),

  act(match, input, results) {
    if (EVERYTHING.test(match.slots.topic ?? '')) return refuseAll(input);
    const entries = keptEntries(input);
    const wanted =
      match.slots.last === undefined ? clearMatch(match.slots.topic ?? '', entries) : lastAdded(input, entries);
    const found = matchEntries(match.slots.topic ?? '', entries);
    if (wanted === undefined && found.length > 1) return askWhich(found.map((entry) => entry.text));
    if (wanted === undefined && match.slots.last !== undefined) return { type: 'say', text: texts.nothingToUndo };
    return remove(match, wanted, results);
  },
};

function namesNothing(topic: string): boolean {
  return isVagueName(topic, english) && !EVERYTHING.test(topic);
}

/** `forget it` means a note only as long as nothing was done after it. */
function isFresh(input: ReflexInput): boolean {
  const at = memoryWrites(input).at(-1)?.at;
  return at !== undefined && input.history.slice(at).every((message) => toolCalls(message).length === 0);
}

function lastAdded(input: ReflexInput, entries: readonly KeptEntry[]): KeptEntry | undefined {
  const after = memoryWrites(input).findLast((write) => write.after !== undefined)?.after;
  return entries.findLast((entry) => entry.text === after);
}

/** Without a known entry the words themselves are tried, first in the file that they sound like, then in the other. */
function remove(match: ReflexMatch, known: KeptEntry | undefined, results: readonly ToolResultPart[]): ReflexStep {
  const oldText = known?.text ?? match.slots.topic ?? '';
  const first = known?.target ?? targetOf(oldText);
  const targets: readonly Target[] = known === undefined ? [first, first === 'user' ? 'memory' : 'user'] : [first];
  const last = results.at(-1);
  const target = targets[results.length];
  if (target !== undefined && (last === undefined || isNotFound(last))) {
    return { type: 'call', calls: [{ name: 'memory', arguments: { action: 'remove', target, old_text: oldText } }] };
  }
  const candidates = results.flatMap(candidatesOf);
  if (last !== undefined && candidates.length > 0) return askWhich(candidates);
  const tried = targets[results.length - 1] ?? first;
  return last === undefined
    ? { type: 'say', text: texts.notChanged }
    : sayWritten(texts.removed, { target: tried, text: oldText }, last);
}

function askWhich(entries: readonly string[]): ReflexQuestion {
  return { type: 'ask', question: texts.which, choices: entries.slice(0, MOST).map((entry) => `forget that ${entry}`) };
}

function refuseAll(input: ReflexInput): ReflexStep {
  const entries = keptEntries(input);
  return {
    type: 'say',
    text: entries.length === 0 ? texts.nothingKept : texts.forgetAll,
    quotes: entries.map((entry) => ({ source: FILES[entry.target], text: entry.text })),
  };
}
