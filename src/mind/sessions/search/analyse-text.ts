// Owns what of a message goes into the index: its stems in order without stop words, and a few facts about the sentence that ranking
// uses. Invariant: the same text gives the same analysis in every process; a change here is a new ANALYSIS_VERSION and a rebuild.
import { contentStems } from '#base/text/content-stems.ts';

/** Stored beside the index; another number there means: rebuild it. */
export const ANALYSIS_VERSION = 1;

/** Bits of `flags`. */
export const HAS_QUESTION = 1;
export const ENDS_AS_QUESTION = 2;
export const SAYS_WHEN = 4;
export const SAYS_HOW_MANY = 8;
export const FROM_ASSISTANT = 16;

const WHEN =
  /\b(yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekend|months?|years?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october|november|december|recently|since|soon|summer|winter|spring|fall|autumn|morning|days?|(?:19|20)\d\d)\b/i;
const HOW_MANY =
  /\b(\d+|one|two|three|four|five|six|seven|eight|nine|ten|dozen|couple|several|many|once|twice|first|second|third)\b/i;

export interface Analysis {
  /** Stems joined by single spaces, in order. */
  readonly terms: string;
  readonly flags: number;
}

export function analyseText(text: string): Analysis {
  return { terms: contentStems(text).join(' '), flags: flagsOf(text) };
}

function flagsOf(text: string): number {
  const question = text.includes('?') || text.includes('？');
  const ends = question && /[?？]\s*$/.test(text.slice(-16));
  return (
    (question ? HAS_QUESTION : 0) |
    (ends ? ENDS_AS_QUESTION : 0) |
    (WHEN.test(text) ? SAYS_WHEN : 0) |
    (HOW_MANY.test(text) ? SAYS_HOW_MANY : 0)
  );
}
