// Owns making foreign text harmless to look at: what a terminal or a model would take for something else than words is taken out.
// Pure and linear. Invariant: no control character, no escape sequence, no direction mark, nothing invisible is left; a quotation is one line
// of JSON text, so that nothing inside can end it.
import { stripVTControlCharacters } from 'node:util';
import { sliceText, wellFormed } from '#base/text.ts';

const LINE_ENDS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
/** All but the joiners, one in a row, and the mark of emoji, which scripts and emoji need. */
const INVISIBLE =
  /(?!\u200c|\u200d|\ufe0f)[\p{Cf}\p{Default_Ignorable_Code_Point}]|(?<=\u200c|\u200d)(?:\u200c|\u200d)/gu;
const CONTROLS = /(?![\n\t])\p{Cc}/gu;

/** Line breaks and tabs stay. */
export function plainText(text: string): string {
  return stripVTControlCharacters(wellFormed(text))
    .replace(LINE_ENDS, '\n')
    .replace(INVISIBLE, '')
    .replace(CONTROLS, '');
}

/** One line: the first `max` characters, and `…` where there were more. */
export function oneLine(text: string, max: number): string {
  // Cut first: what a peer wrote may be a megabyte, of which a line is shown.
  const start = text.slice(0, max * 8);
  const line = plainText(start).replace(/\s+/g, ' ').trim();
  return line.length <= max ? line : `${sliceText(line, max)}…`;
}

/** One line in quotation marks; `<` and `>` can close nothing around it. */
export function quoted(text: string, max: number): string {
  return JSON.stringify(oneLine(text, max)).replace(/</g, '‹').replace(/>/g, '›');
}

const PLAIN_NAME = /^[\p{L}\p{N}](?:[\p{L}\p{N}._=+/@:[\]-]*[\p{L}\p{N}\]])?$/u;
const NAME_LIMIT = 80;

/** A name or id as it is when it looks like one, else in quotation marks. */
export function plainName(name: string): string {
  return name.length <= NAME_LIMIT && PLAIN_NAME.test(name) ? name : quoted(name, NAME_LIMIT);
}
