// Owns where a string, a number or a word of JSON ends. Knows no structure. Invariant: each character is read once; no loop of a
// regular expression runs over more than a few characters.

/** `open`: the text ends in it. `wrong`: what stands at `end`, or begins there, is none. */
export interface TokenEnd {
  readonly state: 'whole' | 'open' | 'wrong';
  readonly end: number;
}

/** A longer number is left to the parser. */
const SHORT = 64;
const SCALAR = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** `at`: its first character. */
export function endOfScalar(text: string, at: number): TokenEnd {
  let end = at + 1;
  while (end < text.length && isWordUnit(text.charCodeAt(end))) end += 1;
  if (end === text.length) return { state: 'open', end };
  const isWrong = end - at <= SHORT && !SCALAR.test(text.slice(at, end));
  return isWrong ? { state: 'wrong', end } : { state: 'whole', end };
}

/** Letters, digits, `+ - .` */
function isWordUnit(unit: number): boolean {
  const isDigit = unit >= 0x30 && unit <= 0x39;
  const isLetter = (unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a;
  return isDigit || isLetter || unit === 0x2b || unit === 0x2d || unit === 0x2e;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LONGEST_ESCAPE = 6;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const CUT_OFF_ESCAPE = /^\\(?:u[0-9a-fA-F]{0,3})?$/;

/** `from`: behind the opening quotation mark. */
export function endOfString(text: string, from: number): TokenEnd {
  let at = from;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return { state: 'whole', end: at + 1 };
    if (unit < 0x20) return { state: 'wrong', end: at };
    const next = unit === BACKSLASH ? endOfEscape(text, at) : at + 1;
    if (next === undefined) return wrongEscape(text, at);
    at = next;
  }
  return { state: 'open', end: text.length };
}

function endOfEscape(text: string, at: number): number | undefined {
  ESCAPE.lastIndex = at;
  return ESCAPE.test(text) ? ESCAPE.lastIndex : undefined;
}

function wrongEscape(text: string, at: number): TokenEnd {
  const isCutOff = text.length - at < LONGEST_ESCAPE && CUT_OFF_ESCAPE.test(text.slice(at));
  return isCutOff ? { state: 'open', end: text.length } : { state: 'wrong', end: at };
}
