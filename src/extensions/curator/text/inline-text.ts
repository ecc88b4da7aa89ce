// Owns making any text harmless on one line of Markdown: what tools, files and web pages said is data (curator notes 21.2). Pure.
// Invariant: the result has no line end, control or invisible character, comment mark, end of raw HTML, block marker or code fence.
// It is a fixed point.
import { redactSecrets } from '#base/secrets.ts';

/** Line ends of every kind and control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
const BREAKS = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]+/g;
/** Marks that nobody sees: joiners, direction overrides, selectors, tag characters. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\uFFF9-\uFFFB]/gu;
/** What ends HTML that the text around may have left open: then everything behind would be read as Markdown again. */
const HTML_ENDS = /<(?=\/(?:pre|script|style|textarea)\b)|\?(?=>)|\](?=\]>)/gi;

export function inlineText(text: string): string {
  const visible = redactSecrets(text.toWellFormed().replace(INVISIBLE, '').replace(BREAKS, ' '));
  return visible
    .replace(/`{3,}/g, "'''")
    .replace(/~{3,}/g, '~~')
    .replace(/<!(?=-)/g, '<! ')
    .replace(/-(?=-!?>)/g, '- ')
    .replace(HTML_ENDS, '$& ')
    .replace(/curator-evolver:auto/gi, 'curator-evolver auto');
}
