// Owns finding the words of a text that may be exact values: one pass over its characters that drops plain words at once.
// Knows no kinds. Invariant: time grows with the length of the text only.

/** `before` and `after` are its neighbours on the line, empty at its edges. */
export type TakeWord = (word: string, before: string, after: string) => void;

const DELIMITER = 1;
const DIGIT = 2;
const UPPER = 4;
const LOWER = 8;
/** Signs that stand inside paths, names and addresses. */
const SIGN = 16;

const CLASSES = charClasses();
const LONGEST = 240;

/** One entry for each UTF-16 unit, so that no look-up is out of bounds. */
function charClasses(): Uint8Array {
  const classes = new Uint8Array(65_536);
  for (let code = 0; code <= 32; code += 1) classes[code] = DELIMITER;
  for (const sign of '"\'`()[]{}<>,;|') classes[sign.charCodeAt(0)] = DELIMITER;
  for (const sign of '/\\_@#$.=') classes[sign.charCodeAt(0)] = SIGN;
  for (let code = 48; code <= 57; code += 1) classes[code] = DIGIT;
  for (let code = 65; code <= 90; code += 1) classes[code] = UPPER;
  for (let code = 97; code <= 122; code += 1) classes[code] = LOWER;
  return classes;
}

/** Calls `take` for each word with a digit, a sign inside, or a capital behind a small letter. */
export function scanWords(text: string, take: TakeWord): void {
  let before: Span | undefined;
  for (let at = 0; at < text.length; ) {
    const from = skipDelimiters(text, at);
    if (from === text.length) return;
    const { end, telling } = readWord(text, from);
    if (telling && end - from > 1 && end - from <= LONGEST) {
      const neighbour = before !== undefined && isNext(text, before.end, from) ? wordOf(text, before) : '';
      take(wordOf(text, { from, end }), neighbour, nextWord(text, end));
    }
    before = { from, end };
    at = end;
  }
}

interface Span {
  readonly from: number;
  readonly end: number;
}

/** Only spaces between, and no sentence or clause ended. */
function isNext(text: string, end: number, from: number): boolean {
  if ('.!?…'.includes(text[end - 1] ?? '')) return false;
  for (let at = end; at < from; at += 1) if (text.charCodeAt(at) !== 32) return false;
  return true;
}

function skipDelimiters(text: string, from: number): number {
  let at = from;
  while (at < text.length && CLASSES[text.charCodeAt(at)] === DELIMITER) at += 1;
  return at;
}

function readWord(text: string, from: number): { readonly end: number; readonly telling: boolean } {
  let end = from;
  let last = 0;
  let telling = false;
  for (; end < text.length; end += 1) {
    const kind = CLASSES[text.charCodeAt(end)] ?? 0;
    if (kind === DELIMITER && !isDigitComma(text, end, last) && !isInLink(text, from, end)) break;
    if (kind === DIGIT || (kind === UPPER && last === LOWER) || (kind === SIGN && isInside(text, end))) telling = true;
    last = kind;
  }
  return { end, telling };
}

/** `8,192` is one number. */
function isDigitComma(text: string, at: number, last: number): boolean {
  return last === DIGIT && text.charCodeAt(at) === 44 && CLASSES[text.charCodeAt(at + 1)] === DIGIT;
}

/** Commas and the like belong to a link; space, quotes and closing brackets do not. */
function isInLink(text: string, from: number, end: number): boolean {
  return ',;({|'.includes(text[end] ?? ' ') && text.slice(from, end).includes('://');
}

/** The full stop that ends a sentence is no sign of anything. */
function isInside(text: string, at: number): boolean {
  if (at + 1 >= text.length) return false;
  const next = text.charCodeAt(at + 1);
  return CLASSES[next] !== DELIMITER && next !== 46;
}

const TRAILING = new Set('.,:;!?*~…'.split(''));
const LEADING = new Set('*~:!?…'.split(''));

function wordOf(text: string, { from, end }: Span): string {
  let start = from;
  let stop = end;
  while (stop > start && TRAILING.has(text[stop - 1] ?? '')) stop -= 1;
  while (start < stop && LEADING.has(text[start] ?? '') && text[start + 1] !== '/') start += 1;
  return text.slice(start, stop);
}

function nextWord(text: string, end: number): string {
  if (text.charCodeAt(end) !== 32) return '';
  let stop = end + 1;
  while (stop < text.length && stop - end < 24 && CLASSES[text.charCodeAt(stop)] !== DELIMITER) stop += 1;
  return wordOf(text, { from: end + 1, end: stop });
}
