// Owns laying out tables for a terminal: columns of display width, the last one wrapped where the width is known.
// Knows no command. Invariant: pure; with a width no line is wider, except for a single grapheme that does not fit.
import { plain } from './terminal-text.ts';

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|\ufe0f/u;
const MARK = /^[\p{Mark}\u200b-\u200f\u2060\ufeff]+$/u;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Below this many columns the last one goes to lines of its own. */
const LEAST_LAST = 24;
const GAP = '  ';

/** Columns that `text` takes at a terminal. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment);
  return width;
}

function graphemeWidth(segment: string): number {
  if (MARK.test(segment)) return 0;
  return WIDE.test(segment) ? 2 : 1;
}

/** @param terminal its columns; absent where lines may be of any length, 0 (a pty that nobody gave a size) where they are not known */
export function tableLines(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  terminal?: number,
): readonly string[] {
  const width = terminal || Number.POSITIVE_INFINITY;
  const cells = [columns, ...rows].map((row) => columns.map((_, i) => plain(row[i] ?? '').replace(/\s*\n\s*/g, ' ')));
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => displayWidth(row[i] ?? ''))));
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + GAP.length, 0);
  return cells.flatMap((row) => rowLines(row, { widths, before, width }));
}

interface Layout {
  readonly widths: readonly number[];
  /** Columns that everything before the last column takes. */
  readonly before: number;
  readonly width: number;
}

function rowLines(row: readonly string[], { widths, before, width }: Layout): readonly string[] {
  const head = row.slice(0, -1).map((cell, i) => pad(cell, widths[i] ?? 0));
  const last = row.at(-1) ?? '';
  const room = width - before;
  if (before + displayWidth(last) <= width) return [[...head, last].join(GAP).trimEnd()];
  if (room >= LEAST_LAST || head.length === 0) {
    const [first = '', ...more] = wrapWords(last, Math.max(room, 2));
    return [[...head, first].join(GAP), ...more.map((line) => ' '.repeat(before) + line)];
  }
  const top = wrapWords(head.join(GAP).trimEnd(), width);
  return [...top, ...wrapWords(last, Math.max(width - 4, 2)).map((line) => `    ${line}`)];
}

function pad(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - displayWidth(cell)));
}

/** Lines of at most `width` columns, broken at blanks, inside a word only where it alone is too wide. */
export function wrapWords(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const piece of text.split(/(?<=\s)(?=\S)/).flatMap((word) => breakWord(word, width))) {
    if (line !== '' && displayWidth((line + piece).trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = '';
    }
    line += piece;
  }
  return [...lines, line.trimEnd()];
}

function breakWord(word: string, width: number): readonly string[] {
  if (displayWidth(word.trimEnd()) <= width) return [word];
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  for (const { segment } of graphemes.segment(word)) {
    const wide = graphemeWidth(segment);
    if (used + wide > width && piece !== '') {
      pieces.push(piece);
      piece = '';
      used = 0;
    }
    piece += segment;
    used += wide;
  }
  return [...pieces, piece];
}
