// Owns the putting right of what was kept a moment ago: `sorry, I meant 15 May`, `no wait, its row H`.
// Knows no tool. Invariant: only the entry that the turn before wrote, and only where one run of its words is plainly the wrong one.
import type { ReflexInput } from '#core/agent/reflex-rule.ts';
import { memoryWrites } from './kept-entries.ts';

export interface Amended {
  /** The whole entry. */
  readonly whole: string;
  readonly old: string;
  readonly new: string;
}

const TURN =
  '(?:oh|oops|whoops|oopsie|wait|no|nope|nah|sorry|actually|hmm+|well|ah|hold on|hang on|my bad|my mistake|scratch that|correction|argh|ugh|err?m?|i mean)\\b[\\s,.!:–—-]*';
const MEANT =
  "(?:i (?:meant|mean)(?: to say)?|i (?:wanted|should have) (?:to say|said)|make (?:it|that)|(?:it|that|he|she|this) (?:should (?:be|have been|say)|is|was)|(?:it|that|he|she)['’]?s|its|thats|should (?:be|have been)|rather|not that,?)\\s+";
/** After these words anything may follow; `it is late` needs a turning word before it. */
const SAID = new RegExp(
  `^(?:(?:${TURN})+(?:${MEANT})?|(?:i meant|make it|make that)\\s+)(?:\\p{Pd}\\s*)?(?<said>[^?]+?)[.!\\s]*$`,
  'iu',
);
const MOST_WORDS = 5;

/** What the line puts right in the entry of the turn before; undefined when it is no such line. */
export function amendedLast(input: ReflexInput): Amended | undefined {
  const said =
    SAID.exec(input.text.trim())
      ?.groups?.said?.replace(/[.!\s]+$/, '')
      .replace(LEAD, '') ?? '';
  const whole = lastWritten(input);
  if (said === '' || whole === undefined || said.split(/\s+/).length > MOST_WORDS || TALK.test(said)) return undefined;
  const old = replacedRun(whole, said);
  return old === undefined || old.toLowerCase() === said.toLowerCase() ? undefined : { whole, old, new: said };
}

const LEAD = new RegExp(`^(?:${MEANT})`, 'i');
/** Talk and orders: no name, figure or day. */
const TALK =
  /\b(?:you|i|me|we|please|thanks|thank|undo|forget|never|mind|stop|cancel|fine|ok|okay|good|right|wrong|that|this|it|run|show|list|read|open|find|search|save|remember|not|why|what|how)\b/i;

function lastWritten(input: ReflexInput): string | undefined {
  const turn = input.history.findLastIndex((message) => message.role === 'user');
  const last = memoryWrites(input).at(-1);
  return last !== undefined && last.at > turn ? last.after : undefined;
}

/** The run of words that the new ones stand for: beside a word that both share, else a last word of the same shape. */
function replacedRun(entry: string, said: string): string | undefined {
  const words = entry.replace(/[.!\s]+$/, '').split(/\s+/);
  const now = said.split(/\s+/);
  let best = { shared: 0, at: -1 };
  for (let at = words.length - now.length; at >= 0; at -= 1) {
    const shared = now.filter((word, place) => same(word, words[at + place])).length;
    if (shared > best.shared) best = { shared, at };
  }
  if (best.at >= 0) return words.slice(best.at, best.at + now.length).join(' ');
  const last = words.slice(-now.length);
  return now.every((word, place) => shapeOf(word) === shapeOf(last[place] ?? '')) ? last.join(' ') : undefined;
}

function same(left: string, right: string | undefined): boolean {
  return left.toLowerCase() === right?.toLowerCase();
}

function shapeOf(word: string): string {
  if (/\d/.test(word)) return word.replace(/\d+/g, '9').replace(/\p{L}+/gu, 'a');
  if (/^\p{Lu}{2,}$/u.test(word)) return 'ALL';
  return /^\p{L}[\p{L}'’-]*$/u.test(word) ? 'word' : 'other';
}
