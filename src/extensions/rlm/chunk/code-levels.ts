// Owns where source code may be parted without knowing its language: before a line at the margin that follows a blank line (2),
// before any other line that follows a blank one (1). A closing bracket at the margin belongs to what it closes. Invariant: linear.
import type { LineReader } from './line-reader.ts';

export function codeLevels(reader: LineReader): Uint8Array {
  const levels = new Uint8Array(reader.count);
  let afterBlank = true;
  for (let line = 0; line < reader.count; line += 1) {
    const blank = reader.isBlank(line);
    if (!blank && afterBlank) levels[line] = /^(?:\s|[\])}]|end\b)/.test(reader.prefix(line, 4)) ? 1 : 2;
    afterBlank = blank;
  }
  return levels;
}
