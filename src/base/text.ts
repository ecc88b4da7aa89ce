// Owns plain operations on strings that several floors need. Knows nothing of messages or terminals.
// Invariant: no function here ever splits a surrogate pair.

/** White space of every kind folded to single blanks, none at the ends; cut as `ellipsize` when a length is given. */
export function oneLine(text: string, max?: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return max === undefined ? line : ellipsize(line, max);
}

/** First `max` UTF-16 units at most, never ending in half a character. */
export function sliceText(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}

/** `text` cut to `max` units with `…` when something was cut. */
export function ellipsize(text: string, max: number): string {
  return text.length <= max ? text : `${sliceText(text, Math.max(0, max - 1))}…`;
}

/** Keeps `head` units of the start and `tail` of the end, naming in between how many characters were left out. */
export function headTail(text: string, head: number, tail: number): string {
  if (text.length <= head + tail) return text;
  let start = text.length - tail;
  const first = text.charCodeAt(start);
  if (first >= 0xdc00 && first <= 0xdfff) start += 1;
  const kept = sliceText(text, head);
  return `${kept}\n[… ${start - kept.length} characters left out …]\n${text.slice(start)}`;
}

/** LF line ends, no trailing blanks on a line, at most one blank line in a row, no blank edges, NFC: equal meaning gives equal bytes. */
export function normalizeText(text: string): string {
  return text
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .normalize('NFC')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Lone surrogates become U+FFFD, so that any string can be stored as UTF-8 and read back equal. */
export function wellFormed(text: string): string {
  return text.toWellFormed();
}

/** Rough token count without a tokenizer (about four characters of Latin text, one and a half of CJK a token). */
export function estimateTokens(text: string): number {
  const wide = text.match(/[\u2E80-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF]/g)?.length ?? 0;
  return Math.ceil((text.length - wide) / 4 + wide / 1.5);
}

/** `1 file`, `2 files`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** A clear yes to a question that takes `y` or `n`; anything else is a no. */
export function isYes(answer: string): boolean {
  return /^\s*y(?:es)?\s*$/i.test(answer);
}

/** Of a character, from 1. */
export function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** Literal in a pattern, also with the flag u, where only marks of the syntax may be escaped. */
export function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
