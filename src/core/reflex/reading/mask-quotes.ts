// Owns the view of a text without its quotations: same length, every quoted character a blank mark.
// Knows no language. Invariant: offsets of the masked text are offsets of the text.

const QUOTED =
  /```[\s\S]*?```|`[^`]*`|"[^"]*"|“[^”]*”|„[^“]*“|«[^»]*»|(?<![\p{L}\p{N}])'[^']*'(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])‘[^’]*’(?![\p{L}\p{N}])/gu;

/** What stands for one quoted character. */
const MARK = '\u0001';

export function maskQuotes(text: string): string {
  return text.replace(QUOTED, (quoted) => MARK.repeat(quoted.length));
}
