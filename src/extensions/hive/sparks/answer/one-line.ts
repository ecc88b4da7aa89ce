// Owns how foreign words become one short line that may be stored and shown: no line breaks, no characters that nobody sees.
// Knows no meaning. Invariant: well-formed, at most `most` UTF-16 units, never half a character.
import { ellipsize, wellFormed } from '#base/text.ts';

/** Control, format and separator characters: they could hide words or end a line where we write one. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu;

export function oneLine(text: string, most: number): string {
  // Four times the length is enough: what is left out of it is blank.
  const clean = wellFormed(text.slice(0, most * 4))
    .replace(UNSEEN, ' ')
    .trim();
  return ellipsize(clean, most);
}

/** Lines that say something, each once, at most `count`. */
export function shortLines(items: readonly string[], count: number, most: number): string[] {
  const lines = new Map<string, string>();
  for (const item of items) {
    const line = oneLine(item, most);
    const key = line.toLowerCase();
    if (line !== '' && !lines.has(key)) lines.set(key, line);
    if (lines.size === count) break;
  }
  return [...lines.values()];
}
