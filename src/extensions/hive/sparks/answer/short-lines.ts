// Owns how foreign words become short lines that may be stored and shown: no line breaks, no characters that nobody sees.
// Knows no meaning. Invariant: well-formed, at most `most` UTF-16 units, never half a character.
import { oneLine } from '#base/text.ts';
import { plainText } from '../../peers/plain-text.ts';

export function shortLine(text: string, most: number): string {
  // Four times the length is enough: what is left out of it is blank.
  return oneLine(plainText(text.slice(0, most * 4)), most);
}

/** Lines that say something, each once, at most `count`. */
export function shortLines(items: readonly string[], count: number, most: number): string[] {
  const lines = new Map<string, string>();
  for (const item of items) {
    const line = shortLine(item, most);
    const key = line.toLowerCase();
    if (line !== '' && !lines.has(key)) lines.set(key, line);
    if (lines.size === count) break;
  }
  return [...lines.values()];
}
