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

/** An innermost list: no brace inside. */
const LIST = /\uE000([^\uE000\uE002]*\uE001[^\uE000\uE002]*)\uE002/;

function hasList(text: string): boolean {
  return LIST.test(text);
}

function expandFirst(text: string): readonly string[] {
  const match = LIST.exec(text);
  if (!match?.[1]) return [text];
  const before = text.slice(0, match.index);
  const after = text.slice(match.index + match[0].length);
  return match[1].split(COMMA).map((choice) => before + choice + after);
}

function unmark(word: ShellWord): ShellWord {
  if (!/[\uE000-\uE002]/.test(word.text)) return word;
  return { ...word, text: word.text.replaceAll(OPEN, '{').replaceAll(COMMA, ',').replaceAll(CLOSE, '}') };
}
