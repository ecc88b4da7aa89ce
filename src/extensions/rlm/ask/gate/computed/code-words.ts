// Owns what code searched for: the words of its texts and patterns, without its comments. And whether it invents a number by itself.
// Invariant: linear; bounded by what is read of the code.
import { readWords } from '../quote/read-words.ts';

const MOST_CODE = 20_000;
const LITERAL =
  /"(?:\\.|[^"\\\n]){0,400}"|'(?:\\.|[^'\\\n]){0,400}'|`(?:\\.|[^`\\]){0,400}`|\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?<=[=(,:!&|?{;\s]|^)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n]){0,200}\]|[^/\\\n[]){1,400}\/[a-z]{0,8}/g;

/** Keys of words; names as they are looked up. */
export function codeWords(code: string): ReadonlySet<string> {
  const literals = [...code.slice(0, MOST_CODE).matchAll(LITERAL)].map(([text]) => text);
  const texts = literals
    .filter((text) => !/^\/[/*]/.test(text))
    .map((text) => text.slice(1).replace(/["'`]$|\/[a-z]*$/, ''));
  const plain = texts.map((text) => text.replace(/\\[pP]\{[^}]*\}|\(\?<?[:=!]|\\[bBdDsSwWn]|[\\^$*+?()[\]{}|]/g, ' '));
  return new Set([...texts, ...plain].flatMap((text) => readWords(text)).map(({ key }) => key));
}

const INVENTING = /[-+*/%]=?\s{0,9}(\d[\d_.]{0,20})|(\d[\d_.]{0,20})\s{0,9}[-+*/%]/g;
const HARMLESS = new Set(['0', '1', '100', '1000', '1024']);

/** Arithmetic with a number of its own: `lines * 7 + 1` counts nothing. */
export function inventsNumbers(code: string): boolean {
  const bare = code.slice(0, MOST_CODE).replace(LITERAL, ' ');
  return [...bare.matchAll(INVENTING)].some(([, right, left]) => !HARMLESS.has(right ?? left ?? ''));
}
