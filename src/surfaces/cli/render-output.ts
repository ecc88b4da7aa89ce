// Owns printing what commands yield: lines, tables in columns, JSON on request, failures with their exit code.
// Knows no command. Invariants: results go to stdout, failures to stderr; with JSON stdout holds one JSON value and nothing else, and data
// that came before a failure stands in it beside `error`.

import { isJsonObject, type JsonValue } from '#base/json.ts';
import type { CommandOutput } from '#core/agent/command-spec.ts';
import { tableLines } from './table-lines.ts';
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
