// Owns showing words of others at a terminal: on one line, or as a block whose every line is marked, so that nothing in them can pass for a
// line of ours. What is harmful in them is plain-text's business. Pure.
import { oneLine, plainText } from '../peers/plain-text.ts';

const MOST_LINES = 200;

/** One line of at most `max` characters. */
export function shownLine(text: string, max = 300): string {
  return oneLine(text, max);
}

/** Every line begins with `mark`. Empty for nothing. `most` lines, and how many there are beside. */
export function shownBlock(text: string, mark = '  | ', most = MOST_LINES): string {
  const clean = plainText(text)
    .replace(/\t/g, '  ')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  if (clean === '') return '';
  const lines = clean.split('\n');
  const rest = lines.length - most;
  const kept = rest > 0 ? [...lines.slice(0, most), `… ${rest} lines more`] : lines;
  return kept.map((line) => `${mark}${line}`.trimEnd()).join('\n');
}
