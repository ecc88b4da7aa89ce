// Owns printing what commands yield: lines, tables in columns, JSON on request, failures with their exit code.
// Knows no command. Invariants: results go to stdout, failures to stderr; with JSON stdout holds one JSON value and nothing else, and data
// that came before a failure stands in it beside `error`.
import { isJsonObject, type JsonValue } from '#base/json.ts';
import type { CommandOutput } from '#core/agent/command-spec.ts';
import { plain } from './terminal-text.ts';

export interface OutputTarget {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Columns of the terminal that `out` goes to; absent when it goes elsewhere. */
  readonly width?: number;
}

/** Prints all output of a command; resolves to its exit code. */
export async function renderOutput(
  outputs: AsyncIterable<CommandOutput>,
  json: boolean,
  target: OutputTarget,
): Promise<number> {
  const gathered: CommandOutput[] = [];
  for await (const output of outputs) {
    if (output.type === 'failure') return renderFailure(output, json ? gathered : undefined, target);
    if (!json) for (const line of shownLines(output, gathered.length > 0, target.width)) target.out(`${line}\n`);
    gathered.push(output);
  }
  if (json) target.out(`${JSON.stringify(jsonOf(gathered), null, 2)}\n`);
  return 0;
}

/** What `--json` shows where lines are shown: one line, or the failure that ended the command. */
export async function* asJson(outputs: AsyncIterable<CommandOutput>): AsyncGenerator<CommandOutput, void> {
  const gathered: CommandOutput[] = [];
  for await (const output of outputs) {
    if (output.type === 'failure') yield output;
    else gathered.push(output);
  }
  if (gathered.length > 0) yield { type: 'line', text: JSON.stringify(jsonOf(gathered), null, 2) };
}

/** Data is for machines: a person sees it only when the command said nothing else before. */
function shownLines(
  output: Exclude<CommandOutput, { type: 'failure' }>,
  hasOther: boolean,
  width?: number,
): readonly string[] {
  if (output.type !== 'data') return outputLines(output, width);
  return hasOther ? [] : [JSON.stringify(output.value, null, 2)];
}

export function outputLines(
  output: Exclude<CommandOutput, { type: 'failure' } | { type: 'data' }>,
  width?: number,
): readonly string[] {
  return output.type === 'line' ? [plain(output.text)] : tableLines(output.columns, output.rows, width);
}

export function failureLines(failure: Extract<CommandOutput, { type: 'failure' }>): readonly string[] {
  return failure.fix === '' ? [plain(failure.message)] : [plain(failure.message), plain(failure.fix)];
}

/** `before`: what the command yielded until then, when JSON is wanted. */
function renderFailure(
  failure: Extract<CommandOutput, { type: 'failure' }>,
  before: readonly CommandOutput[] | undefined,
  target: OutputTarget,
): number {
  const { code, message, fix } = failure;
  if (before) target.out(`${JSON.stringify(failedJson(dataOf(before), { code, message, fix }), null, 2)}\n`);
  for (const line of failureLines(failure)) target.err(`${line}\n`);
  return failure.exitCode;
}

/** An object keeps its keys, anything else goes below `data`. */
function failedJson(data: JsonValue | undefined, error: JsonValue): JsonValue {
  if (data === undefined) return { error };
  return isJsonObject(data) ? { ...data, error } : { data, error };
}

function dataOf(outputs: readonly CommandOutput[]): JsonValue | undefined {
  const data = outputs.flatMap((output) => (output.type === 'data' ? [output.value] : []));
  return data.length > 1 ? data : data[0];
}

/** The data value; without one the tables as lists of objects, else the lines. */
function jsonOf(outputs: readonly CommandOutput[]): JsonValue {
  const data = dataOf(outputs);
  if (data !== undefined) return data;
  const rows = outputs.flatMap((output) =>
    output.type === 'table' ? output.rows.map((row) => rowObject(output.columns, row)) : [],
  );
  if (rows.length > 0) return rows;
  return { lines: outputs.flatMap((output) => (output.type === 'line' ? [output.text] : [])) };
}

function rowObject(columns: readonly string[], row: readonly string[]): JsonValue {
  return Object.fromEntries(columns.map((column, i) => [column, row[i] ?? '']));
}

// Laying out tables for a terminal: columns of display width, the last one wrapped where the width is known.
// Knows no command. Invariant: pure; with a width no line is wider, except for a single grapheme that does not fit.

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
