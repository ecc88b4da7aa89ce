// Owns making foreign text harmless to look at: what a terminal or a model would take for something else than words is taken out.
// Pure and linear. Invariant: no control character, no escape sequence, no direction mark, nothing invisible is left; a quotation is one line
// of JSON text, so that nothing inside can end it.
import { stripVTControlCharacters } from 'node:util';
import { oneLine as folded, sliceText, wellFormed } from '#base/text.ts';

const LINE_ENDS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
/** All but the joiners, one in a row, and the mark of emoji, which scripts and emoji need. */
const INVISIBLE = /(?!\u200c|\u200d|\ufe0f)[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const JOINERS = /(?:\u200c|\u200d|\ufe0f){2,}/gu;
const CONTROLS = /(?![\n\t])\p{Cc}/gu;

/** Line breaks and tabs stay. A plain text stays as it is, so what was shown can be sent. */
export function plainText(text: string): string {
  return stripVTControlCharacters(wellFormed(text))
    .replace(LINE_ENDS, '\n')
    .replace(INVISIBLE, '')
    .replace(CONTROLS, '')
    .replace(JOINERS, (run) => `${run.startsWith('\ufe0f') ? '\ufe0f' : ''}${/\u200c|\u200d/u.exec(run)?.[0] ?? ''}`);
}

/** One line: the first `max` characters, and `…` where there were more. */
export function oneLine(text: string, max: number): string {
  // Cut first: what a peer wrote may be a megabyte, of which a line is shown.
  const start = text.slice(0, max * 8);
  const line = folded(plainText(start));
  return line.length <= max ? line : `${sliceText(line, max)}…`;
}

/** One line in quotation marks; `<` and `>` can close nothing around it. */
export function quoted(text: string, max: number): string {
  return JSON.stringify(oneLine(text, max)).replace(/</g, '‹').replace(/>/g, '›');
}

/** ASCII alone: letters of another script can look like these. One `@`, with a server behind it. */
const PLAIN_NAME = /^[a-z0-9][a-z0-9._=/+-]{0,59}(?:@[a-z0-9.:[\]-]{1,60})?$/i;
const NAME_LIMIT = 60;

/** A name or id as it is when it looks like one, else in quotation marks. */
export function plainName(name: string): string {
  return PLAIN_NAME.test(name) ? name : quoted(name, name.includes('@') ? 2 * NAME_LIMIT : NAME_LIMIT);
}
