// Owns finding plain statements of the owner that are worth keeping, by a few forms: `remember …`, `my X is …`, `I prefer …`. Pure.
// Invariant: an entry is a whole sentence of the owner, word for word; a question is none.
import type { Message } from '#core/model/message.ts';
import { overlap, targetOf } from '#mind/memory/match-entries.ts';
import { ownerWords } from './split-turns.ts';

export interface OwnerStatement {
  readonly text: string;
  readonly target: 'memory' | 'user';
  /** Place of its message. */
  readonly at: number;
}

const FORMS: readonly RegExp[] = [
  /^(?:remember|note|keep in mind|don['’]?t forget)\b(?: that|:)? \S+ \S+/i,
  /^(?:my|our) [\p{L}\p{N}' -]{2,60}? (?:is|are|runs?|lives?|uses?|hosts?|deploys?) \S/iu,
  /^(?:i|we) (?:(?:always|usually|never) )?(?:prefer|use|like|deploy|host)\b/i,
  /^(?:always|never|from now on|call me)\b \S/i,
];
/** About this moment, or open: no entry, whatever its form. */
const PASSING =
  /\b(?:now|today|again|currently|yesterday|tomorrow|tonight|this (?:time|once)|at the moment|if|maybe|perhaps)\b/i;
/** What was ordered is kept without the order. */
const ORDER = /^(?:remember|note|keep in mind|don['’]?t forget)\b(?: that|:)?/i;
const LONGEST = 200;
/** How much of it an entry already says. */
const KNOWN = 0.8;

/** Those that no entry says already; each once. */
export function ownerStatements(messages: readonly Message[], kept: readonly string[]): readonly OwnerStatement[] {
  const found: OwnerStatement[] = [];
  for (const [at, message] of messages.entries()) {
    for (const text of sentences(ownerWords(message))) {
      const known = [...kept, ...found.map((one) => one.text)];
      const isStatement = text.length <= LONGEST && !PASSING.test(text) && FORMS.some((form) => form.test(text));
      const told = text.replace(ORDER, '');
      if (isStatement && !known.some((entry) => overlap(told, entry) > KNOWN))
        found.push({ text, target: targetOf(text), at });
    }
  }
  return found;
}

/** Without the mark at their end, but for a question's. */
function sentences(text: string): readonly string[] {
  return text.split(/(?<=[.!?])\s+|\n+/).flatMap((sentence) => {
    const plain = sentence
      .trim()
      .replace(/[.!]+$/, '')
      .trim();
    return plain.endsWith('?') ? [] : [plain];
  });
}
