/**
 * Owns the choice of how a source is taken apart, and where its parts may be parted: for each line how good a place it is to begin a chunk.
 * Levels: 2 a section, a top-level block, a record; 1 a paragraph or inner block; 0 inside one. It does not know limits.
 * Invariant: one pass, linear; the levels only move cuts, they never lose a line.
 */
export interface LineIndex {
  readonly count: number;
  /** Byte offsets; `starts[count]` is the length of the source. */
  readonly starts: readonly number[];
}

const LF = 10;
const CR = 13;

export function scanLines(bytes: Uint8Array): LineIndex {
  const starts: number[] = [];
  for (let start = 0; start < bytes.length; start = nextLine(bytes, start)) starts.push(start);
  const count = starts.length;
  starts.push(bytes.length);
  return { count, starts };
}

function nextLine(bytes: Uint8Array, start: number): number {
  for (let at = start; at < bytes.length; at += 1)
    if (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] !== LF)) return at + 1;
  return bytes.length;
}

/** `records`: one record a line (JSON lines, logs); `blocks`: records parted by blank lines; `csv`: quoted line ends belong to their record. */
export const STRUCTURES = ['lines', 'markdown', 'code', 'records', 'blocks', 'csv'] as const;
export type Structure = (typeof STRUCTURES)[number];

/** null: every line is as good as another. */
export function boundaryLevels(bytes: Uint8Array, index: LineIndex, structure: Structure): Uint8Array | null {
  switch (structure) {
    case 'lines':
    case 'records':
      return null;
    case 'markdown':
      return markdownLevels(beginnings(bytes, index), index.count);
    case 'code':
      return afterBlankLevels(beginnings(bytes, index), index.count, /^(?:\s|[\])}]|end\b)/);
    case 'blocks':
      return afterBlankLevels(beginnings(bytes, index), index.count);
    case 'csv':
      return csvLevels(bytes, index);
  }
}

const BY_ENDING: ReadonlyMap<string, Structure> = new Map([
  ...endings('markdown', 'md markdown mdx qmd rmd'),
  ...endings('csv', 'csv tsv'),
  ...endings('records', 'jsonl ndjson log'),
  ...endings('blocks', 'bib ldif vcf ics'),
  ...endings(
    'code',
    'ts tsx js jsx mjs cjs py rb go rs java kt c h cc cpp hpp cs php swift scala sh lua sql r jl ex hs ml pl css scss zig sol',
  ),
]);

function endings(structure: Structure, names: string): readonly (readonly [string, Structure])[] {
  return names.split(' ').map((name) => [name, structure]);
}

/** By the ending of the name; lines when it says nothing. */
export function structureOf(path: string): Structure {
  return BY_ENDING.get(/\.([A-Za-z0-9]+)$/.exec(path)?.[1]?.toLowerCase() ?? '') ?? 'lines';
}

type Beginnings = (line: number) => string;

/** Enough of a line for marks, which are all ASCII. */
const BEGINNING = 200;

/** As Latin-1, without line end and byte order mark. */
function beginnings(bytes: Uint8Array, { starts }: LineIndex): Beginnings {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return (line) => {
    const start = starts[line] ?? 0;
    const text = buffer.toString('latin1', start, Math.min(starts[line + 1] ?? 0, start + BEGINNING));
    return (line === 0 ? text.replace(/^\xef\xbb\xbf/, '') : text).replace(/[\r\n]+$/, '');
  };
}

/** What follows a blank line begins a block; `inner`: of such a beginning, one within another. */
function afterBlankLevels(beginning: Beginnings, count: number, inner?: RegExp): Uint8Array {
  const levels = new Uint8Array(count);
  let afterBlank = true;
  for (let line = 0; line < count; line += 1) {
    const text = beginning(line);
    const isBlank = text.trim() === '';
    if (!isBlank && afterBlank) levels[line] = inner?.test(text) ? 1 : 2;
    afterBlank = isBlank;
  }
  return levels;
}

const QUOTE = 34;

function csvLevels(bytes: Uint8Array, { count, starts }: LineIndex): Uint8Array {
  const levels = new Uint8Array(count);
  let quoted = false;
  let quote = bytes.indexOf(QUOTE);
  for (let line = 0; line < count; line += 1) {
    if (!quoted) levels[line] = 2;
    for (; quote >= 0 && quote < (starts[line + 1] ?? 0); quote = bytes.indexOf(QUOTE, quote + 1)) quoted = !quoted;
  }
  return levels;
}

/** What closes the fence that is open. */
type Fence = RegExp | null;

function markdownLevels(beginning: Beginnings, count: number): Uint8Array {
  // One more than there are lines: what follows the last fence is marked too.
  const levels = new Uint8Array(count + 1);
  let fence: Fence = null;
  let afterBreak = true;
  let [before, last] = ['', ''];
  for (let line = 0; line < count; line += 1) {
    const text = beginning(line);
    const isClosed: boolean = fence?.test(text) ?? false;
    if (fence === null) {
      fence = openFence(text);
      levels[line] = Math.max(levels[line] ?? 0, levelOf(text, fence !== null || afterBreak));
      if (isHeading(last, text, before)) levels[line - 1] = 2;
    } else if (isClosed) {
      levels[line + 1] = 1;
      fence = null;
    }
    afterBreak = isClosed || text.trim() === '' || levels[line] === 2;
    [before, last] = [last, text];
  }
  return levels.subarray(0, count);
}

function levelOf(text: string, begins: boolean): number {
  if (/^ {0,3}#{1,6}(?:[ \t]|$)/.test(text)) return 2;
  return begins && text.trim() !== '' ? 1 : 0;
}

function openFence(text: string): Fence {
  const mark = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(text)?.[1];
  return mark === undefined ? null : new RegExp(`^ {0,3}${mark}${mark.charAt(0)}*[ \\t]*$`);
}

function isUnderline(text: string): boolean {
  return /^ {0,3}(?:={3,}|-{3,})[ \t]*$/.test(text);
}

/** A line of `===` or `---` makes the paragraph of one line above it a heading. */
function isHeading(text: string, next: string, before: string): boolean {
  if (!isUnderline(next) || isUnderline(text) || before.trim() !== '') return false;
  return text.trim() !== '' && !/^ {0,3}(?:`{3,}|~{3,}|[-*+>|] ?)/.test(text);
}
