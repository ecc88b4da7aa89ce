/**
 * Owns the choice of how a source is taken apart, and where its parts may be parted: for each line how good a place it is to begin a chunk.
 * Levels: 2 a section, a top-level block, a record; 1 a paragraph or inner block; 0 inside one. It does not know limits.
 * Invariant: one pass, linear; the levels only move cuts, they never lose a line.
 */
import { type LineReader, lineReader } from './line-reader.ts';
import type { LineIndex } from './scan-lines.ts';

/** `records`: one record a line (JSON lines, logs); `blocks`: records parted by blank lines; `csv`: quoted line ends belong to their record. */
export const STRUCTURES = ['lines', 'markdown', 'code', 'records', 'blocks', 'csv'] as const;
export type Structure = (typeof STRUCTURES)[number];

/** null: every line is as good as another. */
export function boundaryLevels(bytes: Uint8Array, index: LineIndex, structure: Structure): Uint8Array | null {
  const reader = lineReader(bytes, index);
  switch (structure) {
    case 'lines':
    case 'records':
      return null;
    case 'markdown':
      return markdownLevels(reader);
    case 'code':
      return codeLevels(reader);
    case 'blocks':
      return blankLineRecordLevels(reader);
    case 'csv':
      return csvLevels(reader);
  }
}

const BY_ENDING: Readonly<Record<string, Structure>> = {
  ...endings('markdown', 'md markdown mdx qmd rmd'),
  ...endings('csv', 'csv tsv'),
  ...endings('records', 'jsonl ndjson log'),
  ...endings('blocks', 'bib ldif vcf ics'),
  ...endings(
    'code',
    'ts tsx js jsx mjs cjs py rb go rs java kt c h cc cpp hpp cs php swift scala sh lua sql r jl ex hs ml pl css scss zig sol',
  ),
};

function endings(structure: Structure, names: string): Record<string, Structure> {
  return Object.fromEntries(names.split(' ').map((name) => [name, structure]));
}

/** By the ending of the name; lines when it says nothing. */
export function structureOf(path: string): Structure {
  const ending = /\.([A-Za-z0-9]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(BY_ENDING, ending) ? (BY_ENDING[ending] ?? 'lines') : 'lines';
}

function codeLevels(reader: LineReader): Uint8Array {
  const levels = new Uint8Array(reader.count);
  let afterBlank = true;
  for (let line = 0; line < reader.count; line += 1) {
    const blank = reader.isBlank(line);
    if (!blank && afterBlank) levels[line] = /^(?:\s|[\])}]|end\b)/.test(reader.prefix(line, 4)) ? 1 : 2;
    afterBlank = blank;
  }
  return levels;
}

const QUOTE = 34;

function blankLineRecordLevels(reader: LineReader): Uint8Array {
  const levels = new Uint8Array(reader.count);
  let afterBlank = true;
  for (let line = 0; line < reader.count; line += 1) {
    const blank = reader.isBlank(line);
    if (!blank && afterBlank) levels[line] = 2;
    afterBlank = blank;
  }
  return levels;
}

function csvLevels(reader: LineReader): Uint8Array {
  const levels = new Uint8Array(reader.count);
  let quoted = false;
  for (let line = 0; line < reader.count; line += 1) {
    if (!quoted) levels[line] = 2;
    if (reader.countOf(line, QUOTE) % 2 === 1) quoted = !quoted;
  }
  return levels;
}

const PREFIX = 200;

interface Fence {
  readonly mark: string;
  readonly length: number;
}

function markdownLevels(reader: LineReader): Uint8Array {
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
