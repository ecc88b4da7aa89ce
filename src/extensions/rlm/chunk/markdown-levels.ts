// Owns where Markdown may be parted: before headings (2), before paragraphs and fenced blocks (1), never inside a fence (0).
// Knows ATX and setext headings and fences of both marks. Invariant: linear; an open fence reaches to the end, as Markdown has it.
import type { LineReader } from './line-reader.ts';

const PREFIX = 200;

interface Fence {
  readonly mark: string;
  readonly length: number;
}

export function markdownLevels(reader: LineReader): Uint8Array {
  // One more than there are lines: what follows the last fence is marked too.
  const levels = new Uint8Array(reader.count + 1);
  let fence: Fence | null = null;
  let afterBreak = true;
  for (let line = 0; line < reader.count; line += 1) {
    const text = reader.prefix(line, PREFIX);
    const inside: Fence | null = fence;
    fence = inside === null ? openFence(text) : stillOpen(text, inside);
    if (inside === null) {
      levels[line] = Math.max(levels[line] ?? 0, levelOf({ text, fenced: fence !== null, afterBreak }));
      markUnderlined(levels, reader, { line, text });
    } else if (fence === null) levels[line + 1] = 1;
    afterBreak = text.trim() === '' || levels[line] === 2 || (inside !== null && fence === null);
  }
  return levels.subarray(0, reader.count);
}

/** A line of `===` or `---` makes the paragraph of one line above it a heading. */
function markUnderlined(
  levels: Uint8Array,
  reader: LineReader,
  { line, text }: { readonly line: number; readonly text: string },
): void {
  if (isUnderline(text) && line > 0 && isOwnParagraph(reader, line - 1)) levels[line - 1] = 2;
}

function levelOf(line: { readonly text: string; readonly fenced: boolean; readonly afterBreak: boolean }): number {
  if (/^ {0,3}#{1,6}(?:[ \t]|$)/.test(line.text)) return 2;
  if (line.fenced) return 1;
  return line.afterBreak && line.text.trim() !== '' ? 1 : 0;
}

function openFence(text: string): Fence | null {
  const found = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(text)?.[1];
  return found === undefined ? null : { mark: found.charAt(0), length: found.length };
}

function stillOpen(text: string, fence: Fence): Fence | null {
  const found = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(text)?.[1];
  return found?.startsWith(fence.mark) === true && found.length >= fence.length ? null : fence;
}

function isUnderline(text: string): boolean {
  return /^ {0,3}(?:={3,}|-{3,})[ \t]*$/.test(text);
}

function isOwnParagraph(reader: LineReader, line: number): boolean {
  const text = reader.prefix(line, PREFIX);
  if (text.trim() === '' || isUnderline(text) || /^ {0,3}(?:`{3,}|~{3,}|[-*+>|] ?)/.test(text)) return false;
  return line === 0 || reader.isBlank(line - 1);
}
