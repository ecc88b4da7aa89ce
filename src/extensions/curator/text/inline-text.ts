// Owns making any text harmless on one line of Markdown: what tools, files and web pages said is data (curator notes 21.2). Pure.
// Invariant: the result has no line end, control or invisible character, comment mark, block marker or code fence; it is a fixed point.
import { redactSecrets } from '#base/secrets.ts';

/** Line ends of every kind and control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
const BREAKS = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]+/g;
/** Marks that nobody sees: joiners, direction overrides, tag characters. */
const INVISIBLE =
  /\u034F|[\u00AD\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB\u{E0000}-\u{E0FFF}]/gu;

export function inlineText(text: string): string {
  const visible = redactSecrets(text.toWellFormed().replace(INVISIBLE, '').replace(BREAKS, ' '));
  return visible
    .replace(/`{3,}/g, "'''")
    .replace(/~{3,}/g, '~~')
    .replace(/<!(?=-)/g, '<! ')
    .replace(/-(?=-!?>)/g, '- ')
    .replace(/curator-evolver:auto/gi, 'curator-evolver auto');
}
