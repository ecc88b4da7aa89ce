// Owns finding plain statements of the owner that are worth keeping, by rule: preferences, habits, names of things. English; pure.
// Invariant: an entry is a sentence of the owner, word for word; questions, requests and reports of the moment are none.
import type { Message } from '#core/model/message.ts';
import { targetOf } from '#mind/memory/reflex/about-owner.ts';
import { overlap } from '#mind/memory/reflex/match-entries.ts';
import { ownerWords } from '../counters/split-turns.ts';

export interface OwnerStatement {
  readonly text: string;
  readonly target: 'memory' | 'user';
  /** Place of its message. */
  readonly at: number;
}

const STATEMENTS: readonly RegExp[] = [
  /^(?:i|we)\s+(?:(?:always|usually|mostly|only|generally|really)\s+)?(?:prefer|use|like|want|need|avoid|hate|love|work (?:with|on|at|in|from)|live in|speak|deploy|host|test|write|call|keep|run|develop)\b/i,
  /^(?:i|we)\s+(?:never|do not|don'?t)\s+(?:use|like|want|deploy|commit|push|work|eat|drink)\b/i,
  /^(?:my|our)\s+[\p{L}\p{N}' -]{2,60}?\s+(?:is|are|runs?|lives?|lies|starts?|uses?|listens?|hosts?|deploys?|prefers?|works?|keeps?|writes?|ships?)\b/iu,
  /^(?:always|never)\s+\p{L}{2,}/iu,
  /^(?:from now on|in future|going forward|by default)\b/i,
  /^the\s+[\p{L}\p{N}' -]{2,60}?\s+(?:is called|is named|lives? (?:in|at|on)|runs? on|listens? on|is deployed (?:to|on))\b/iu,
  /^(?:call|address) me\b/i,
];
/** Words about this moment, or that make it a question, a request, a condition. */
const PASSING =
  /\?|\b(?:now|today|right now|currently|at the moment|tomorrow|yesterday|this (?:time|once|file|error|command)|again|broken|failing|failed|running|wrong|if|maybe|perhaps|wonder|think|guess)\b/i;
const LONGEST = 200;
const FEWEST_WORDS = 3;

/** Those that no entry says already; each once. */
export function ownerStatements(messages: readonly Message[], kept: readonly string[]): readonly OwnerStatement[] {
  const found: OwnerStatement[] = [];
  for (const [at, message] of messages.entries()) {
    for (const text of sentences(ownerWords(message))) {
      const known = [...kept, ...found.map((one) => one.text)];
      if (isStatement(text) && !known.some((entry) => overlap(text, entry) > 0.8))
        found.push({ text, target: targetOf(text), at });
    }
  }
  return found;
}

function sentences(text: string): readonly string[] {
  return text.split(/(?<=[.!?])\s+|\n+/).map((sentence) =>
    sentence
      .trim()
      .replace(/[.!]+$/, '')
      .trim(),
  );
}

function isStatement(text: string): boolean {
  const words = text.split(/\s+/).length;
  if (text.length > LONGEST || words < FEWEST_WORDS || PASSING.test(text)) return false;
  return STATEMENTS.some((pattern) => pattern.test(text));
}
