// Owns the folding under which texts of facts compare (notes 6.2): case folded, every run of white space one blank, none at the ends.
import { caseFold } from '#base/text/case-fold.ts';

/** White space as the original's language counts it: with the separators U+001C to U+001F and U+0085, without U+FEFF. */
const SPACE_CLASS = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const SPACE = new RegExp(`${SPACE_CLASS}+`, 'g');

export function foldText(text: string): string {
  return caseFold(text).replace(SPACE, ' ').replace(/^ | $/g, '');
}
