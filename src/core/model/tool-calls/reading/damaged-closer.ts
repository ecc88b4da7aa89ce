/**
 * Owns recognising a closing tag that a model spelled wrongly or left unfinished: `</tool_cal`, `</ tool_call >`,
 * `<\/function>`, `</tool_call]`. Only closing tags: a damaged opener is never guessed, for it would begin a call.
 * Does not know what the tag closes.
 */
import { isSpaceCode, type TextWindow } from './text-window.ts';

const MAX_CLOSER = 48;
const CALLISH = /tool|func|invo|call|param|arg|action|request|plugin/;
/** `_`, `-`, `:` and the bars of special tokens. */
const MARKS = new Set([95, 45, 58, 124, 0xff5c]);
const SLASH = 47;
const BACKSLASH = 92;
const LESS = 60;

export interface DamagedCloser {
  /** Letters of the name only, lower case. */
  readonly word: string;
  readonly end: number;
}

/** The closing tag, whole or damaged, at `pos`: `</`, a name, and `>` or what stands for it; else null. */
export function readDamagedCloser(win: TextWindow, pos: number): DamagedCloser | null {
  const start = closerStart(win, pos);
  if (start === -1) return null;
  let at = start;
  while (at < pos + MAX_CLOSER && isNameCode(win.code(at))) at += 1;
  const word = win
    .slice(start, at)
    .toLowerCase()
    .replace(/[^a-z]/g, '')
    .replace(/^dsml/, '');
  if (word === '') return null;
  const end = closerEnd(win, at);
  return end === -1 ? null : { word, end };
}

/** Index behind `</`, `<\/` or `< /`, or -1. */
function closerStart(win: TextWindow, pos: number): number {
  if (win.code(pos) !== LESS) return -1;
  let at = pos + 1;
  while (win.code(at) === 32 && at < pos + 3) at += 1;
  if (win.code(at) === BACKSLASH) at += 1;
  if (win.code(at) !== SLASH) return -1;
  while (win.code(at) === SLASH || (win.code(at) === 32 && at < pos + 6)) at += 1;
  return at;
}

/** Behind the end of the tag; a missing `>` is forgiven at a line's or the text's end and before the next tag. */
function closerEnd(win: TextWindow, nameEnd: number): number {
  const at = win.skipBlank(nameEnd);
  const char = win.char(at);
  if (char === '>') return at + 1;
  if (char === '|' || char === ']' || char === ')' || char === '}' || char === '/')
    return win.char(at + 1) === '>' ? at + 2 : at + 1;
  return char === '' || char === '\n' || char === '<' ? at : -1;
}

function isNameCode(code: number): boolean {
  if (isSpaceCode(code)) return false;
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || MARKS.has(code);
}

/** The name of a tag that closes something of a call, in any spelling. */
export function isCallWord(word: string): boolean {
  return CALLISH.test(word);
}

/** `word` is `wanted` cut short, or spelled with at most two letters wrong. */
export function resembles(word: string, wanted: string): boolean {
  const letters = wanted
    .toLowerCase()
    .replace(/[^a-z]/g, '')
    .replace(/^dsml/, '');
  if (word === letters) return true;
  if (letters.startsWith(word)) return word.length >= Math.min(3, letters.length);
  return letters.length >= 6 && Math.abs(word.length - letters.length) <= 2 && distance(word, letters) <= 2;
}

/** Edit distance; both words are short. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
