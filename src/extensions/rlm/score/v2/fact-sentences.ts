// Owns whether a text states a fact, sentence by sentence: named by its id as a whole word or by its wording, and not guarded in that same
// sentence. Invariant: a guard inside the fact's own wording guards nothing, a guard in another sentence neither.
import { foldText } from '../fold-text.ts';
import { GUARD_PHRASES } from '../guard-phrases.ts';
import type { ScoreFact } from '../score-fixture.ts';

const MARK = '\ue000';
const SENTENCE_END = /(?<=[.!?])\s+|[\n;]+/u;
const GUARD = new RegExp(`(?<![\\p{L}\\p{N}])(?:${GUARD_PHRASES.join('|')})(?![\\p{L}\\p{N}])`, 'u');
/** Where gaps are listed these words, too, say that nothing is claimed. */
const GAP_WORD =
  /(?<!\p{L})(?:omitted|beyond|outside|truncat\p{L}*|missing|unread|unseen|unknown|unavailable|excluded|not|cannot)(?!\p{L})/u;
const WORD = /[\p{L}\p{N}]/u;

export interface StatedIn {
  readonly text: string;
  readonly isGap: boolean;
}

export function statesFact({ text, isGap }: StatedIn, pattern: RegExp): boolean {
  const marked = text.replaceAll(MARK, ' ').replace(pattern, MARK);
  if (!marked.includes(MARK)) return false;
  return marked.split(SENTENCE_END).some((sentence) => sentence.includes(MARK) && isStated(foldText(sentence), isGap));
}

function isStated(sentence: string, isGap: boolean): boolean {
  if (GUARD.test(sentence)) return false;
  return !isGap || (WORD.test(sentence) && !GAP_WORD.test(sentence));
}

/** Matches the id as a whole word, with or without its tag, and the wording without tag and closing mark; case and white space do not count. */
export function factPattern(fact: ScoreFact): RegExp {
  const id = escaped(fact.fact_id);
  const named = `(?:FACT:)?(?<![\\p{L}\\p{N}_])(?<![\\p{L}\\p{N}_]-)${id}(?!-?[\\p{L}\\p{N}_])`;
  const wording = fact.text
    .replace(new RegExp(`^\\s*FACT:${id}\\s+`, 'iu'), '')
    .replace(/[.!?\s]+$/u, '')
    .split(/\s+/u)
    .filter((word) => word !== '')
    .map(escaped)
    .join('\\s+');
  return new RegExp(wording === '' ? named : `(?<![\\p{L}\\p{N}_])${wording}(?![\\p{L}\\p{N}_])|${named}`, 'giu');
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
