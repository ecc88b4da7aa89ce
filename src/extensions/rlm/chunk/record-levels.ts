// Owns where records of several lines begin: after blank lines, or in CSV after a line end outside quotes. Invariant: linear.
import type { LineReader } from './line-reader.ts';

const QUOTE = 34;

export function blankLineRecordLevels(reader: LineReader): Uint8Array {
  const levels = new Uint8Array(reader.count);
  let afterBlank = true;
  for (let line = 0; line < reader.count; line += 1) {
    const blank = reader.isBlank(line);
    if (!blank && afterBlank) levels[line] = 2;
    afterBlank = blank;
  }
  return levels;
}

export function csvLevels(reader: LineReader): Uint8Array {
  const levels = new Uint8Array(reader.count);
  let quoted = false;
  for (let line = 0; line < reader.count; line += 1) {
    if (!quoted) levels[line] = 2;
    if (reader.countOf(line, QUOTE) % 2 === 1) quoted = !quoted;
  }
  return levels;
}
