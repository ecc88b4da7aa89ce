// Owns brace lists: `{rm,-rf,/}` is three words. Unquoted braces are marked while a word is read, since quoted ones are plain text.
// Knows no quoting. Invariant: a word gives at least one word and at most MAX_WORDS; beyond that it is marked as uncertain.
import type { ShellWord } from './shell-script.ts';

const OPEN = '\uE000';
const COMMA = '\uE001';
const CLOSE = '\uE002';
const MAX_WORDS = 64;
const MAX_LENGTH = 2_000;

/** What stands for an unquoted brace or comma until the word is complete. */
export const UNQUOTED_BRACES: Readonly<Record<string, string>> = { '{': OPEN, ',': COMMA, '}': CLOSE };

/** Text that may not pretend to be an unquoted brace. */
export function plainBraces(text: string): string {
  return /[\uE000-\uE002]/.test(text) ? text.replace(/[\uE000-\uE002]/g, '\uFFFD') : text;
}

export function expandBraces(word: ShellWord): readonly ShellWord[] {
  if (!word.text.includes(OPEN) || !word.text.includes(COMMA)) return [unmark(word)];
  if (word.text.length > MAX_LENGTH) return [unmark({ ...word, certain: false })];
  let texts = [word.text];
  for (let round = 0; round < MAX_WORDS && texts.some(hasList); round += 1) {
    texts = texts.flatMap(expandFirst);
    if (texts.length > MAX_WORDS) return [unmark({ ...word, certain: false })];
  }
  return texts.filter((text) => text !== '').map((text) => unmark({ ...word, text }));
}

function hasList(text: string): boolean {
  return text.includes(OPEN);
}

/** Expands the first, outermost braces; braces without a comma of their own are plain text, as in the shell. */
function expandFirst(text: string): readonly string[] {
  const open = text.indexOf(OPEN);
  if (open < 0) return [text];
  const { commas, close } = scanList(text, open);
  const before = text.slice(0, open);
  if (close < 0) return [`${before}{${text.slice(open + 1)}`];
  const after = text.slice(close + 1);
  if (commas.length === 0) return [`${before}{${text.slice(open + 1, close)}}${after}`];
  const cuts = [open, ...commas, close];
  return cuts.slice(1).map((cut, i) => before + text.slice((cuts[i] ?? open) + 1, cut) + after);
}

/** Commas of the list that opens at `open`, and where it closes (-1: never). */
function scanList(text: string, open: number): { readonly commas: readonly number[]; readonly close: number } {
  const commas: number[] = [];
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    const char = text[at];
    if (char === OPEN) depth += 1;
    if (char === CLOSE) depth -= 1;
    if (char === CLOSE && depth === 0) return { commas, close: at };
    if (char === COMMA && depth === 1) commas.push(at);
  }
  return { commas, close: -1 };
}

function unmark(word: ShellWord): ShellWord {
  if (!/[\uE000-\uE002]/.test(word.text)) return word;
  return { ...word, text: word.text.replaceAll(OPEN, '{').replaceAll(COMMA, ',').replaceAll(CLOSE, '}') };
}
