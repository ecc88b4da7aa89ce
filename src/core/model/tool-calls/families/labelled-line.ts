/**
 * Owns calls that labels announce: ReAct (`Action: name` / `Action Input: {…}`), Cohere (`Action:` and a fenced list),
 * `Tool: name` / `Arguments: {…}`. The name must be declared. A tool with one parameter takes plain input text.
 */
import { announcesExample, endsMessage, isQuoted } from '../prose-guard.ts';
import { argumentRecord, lacksArguments, type WrittenCall } from '../reading/call-of-value.ts';
import { coerceText } from '../reading/coerce-text.ts';
import { readPythonCall } from '../reading/python-call.ts';
import { readValue } from '../reading/value-reader.ts';
import type { DeclaredTool } from '../tool-catalog.ts';
import { readCallBody } from './call-body.ts';
import { foundOf, isStopAt, type Match, type MatchContext, malformed } from './match.ts';
import { readNamedCall } from './named-call.ts';

const LABELS = [
  'action',
  'tool call',
  'tool_call',
  'tool name',
  'tool',
  'function call',
  'function_call',
  'function name',
  'function',
  '✿function✿',
];
const INPUTS = [
  '✿args✿',
  'action input',
  'action_input',
  'tool input',
  'tool_input',
  'tool arguments',
  'function arguments',
  'input',
  'arguments',
  'args',
  'parameters',
  'params',
  'with arguments',
  'with parameters',
];
const INPUT_END = /\n\s*(?:observation|thought|action|final answer|result)\b/i;
const MAX_NAME = 120;

/** One of the labels stands at `pos`, the first on its line. */
export function matchLabelledLine(context: MatchContext, pos: number): Match | null {
  const start = labelEnd(context, pos, LABELS);
  if (start === -1) return null;
  const { win } = context;
  const at = win.skipSpace(start);
  const read =
    win.char(at) === '`' || win.char(at) === '[' || win.char(at) === '{'
      ? listAfterLabel(context, at)
      : callAfterLabel(context, at);
  if (!read || announcesExample(context) || isQuoted(context, read.end)) return null;
  return read;
}

/** Index behind `**label**:` if one of `labels` stands at `pos`, else -1. */
function labelEnd({ win }: MatchContext, pos: number, labels: readonly string[]): number {
  let at = pos;
  while (win.char(at) === '*') at += 1;
  for (const label of labels) {
    if (!sameWord(win.slice(at, at + label.length), label) && !mayGrow(win, at, label)) continue;
    let end = at + label.length;
    while (/[*\s\d]/.test(win.char(end)) && win.char(end) !== '\n') end += 1;
    if (win.char(end) !== ':') continue;
    end += 1;
    while (win.char(end) === '*') end += 1;
    return end;
  }
  return -1;
}

function sameWord(written: string, label: string): boolean {
  return written.toLowerCase() === label;
}

/** The label may be cut off by the end of an unfinished text; touching that end says so. */
function mayGrow(win: MatchContext['win'], at: number, label: string): boolean {
  const rest = win.slice(at, at + label.length).toLowerCase();
  if (rest.length < label.length && label.startsWith(rest)) win.code(at + label.length);
  return false;
}

function listAfterLabel(context: MatchContext, at: number): Match | null {
  const fence = context.win.startsWith('```', at);
  const start = fence ? at + 3 + context.win.identifier(at + 3).length : at;
  const body = readCallBody(context, start, { strict: true, fenced: fence });
  const found = body.found.filter(({ kind }) => kind === 'call');
  return found.length > 0 && found.length === body.found.length ? { kind: 'calls', end: body.end, found } : null;
}

function callAfterLabel(context: MatchContext, at: number): Match | null {
  const { win, catalog } = context;
  const quoted = /["'*]/.test(win.char(at)) ? at + 1 : at;
  const written = win.identifier(quoted);
  const tool = written.length > MAX_NAME ? null : catalog.resolve(written);
  if (!tool) return null;
  let end = quoted + written.length;
  if (win.char(end) === '(') return pythonAfterLabel(context, quoted);
  while (/["'*`]/.test(win.char(end))) end += 1;
  const next = win.skipSpace(end);
  const input = labelEnd(context, next, INPUTS);
  if (input !== -1) return inputAfterLabel(context, { tool, written, start: win.skipSpace(input) });
  const direct = win.char(next) === '{' ? readNamedCall(context, quoted, { contained: false }) : null;
  if (direct?.ok) return found(context, direct.calls, direct.end);
  const alone = endsMessage(win, end) && !(win.isEnd(next) && tool.required.length > 0);
  return alone ? found(context, [{ written, tool, arguments: {} }], end) : null;
}

function pythonAfterLabel(context: MatchContext, at: number): Match | null {
  const read = readPythonCall({ win: context.win, catalog: context.catalog }, at);
  return read?.ok ? found(context, read.calls, read.end) : null;
}

interface Input {
  readonly tool: DeclaredTool;
  readonly written: string;
  readonly start: number;
}

function inputAfterLabel(context: MatchContext, { tool, written, start }: Input): Match {
  const { win } = context;
  const fence = win.startsWith('```', start);
  const from = fence ? win.skipSpace(start + 3 + win.identifier(start + 3).length) : start;
  if (win.char(from) !== '{') {
    const end = inputEnd(context, from);
    if (win.isEnd(from) && tool.required.length > 0) return brokenInput(context, { tool, written, start: from }, true);
    return found(context, [{ written, tool, arguments: textInput(tool, win.slice(from, end).trim()) }], end);
  }
  const read = readValue(win, from, { bare: true, isStop: (at) => isStopAt(win, at) });
  if (!read.ok) return brokenInput(context, { tool, written, start: from }, read.truncated);
  const args = argumentRecord(read.value) ?? {};
  if (read.cut && lacksArguments({ written, tool, arguments: args }))
    return brokenInput(context, { tool, written, start: from }, true);
  return found(context, [{ written, tool, arguments: args }], fence ? fenceClose(context, read.end) : read.end);
}

function brokenInput({ win }: MatchContext, { written, start }: Input, truncated: boolean): Match {
  const end = truncated ? win.text.length : win.lineEnd(start);
  const reason = truncated ? 'truncated' : 'unparsable';
  return { kind: 'calls', end, found: [malformed(reason, written, win.slice(start, end))] };
}

function fenceClose({ win }: MatchContext, at: number): number {
  const close = win.skipSpace(at);
  return win.startsWith('```', close) ? close + 3 : at;
}

/** Plain input lasts to the next label or the end of its line. */
function inputEnd({ win }: MatchContext, from: number): number {
  const line = win.lineEnd(from);
  const label = INPUT_END.exec(win.slice(from, line));
  return label ? from + label.index : line;
}

function textInput(tool: DeclaredTool, text: string): Record<string, unknown> {
  const [only] = tool.properties.entries();
  if (!only || text === '' || /^(?:none|null|n\/a|\{\}|no input)$/i.test(text)) return {};
  const bare = text.replace(/^(["'])(.*)\1$/, '$2');
  return { [only[0]]: coerceText(bare, only[1]) };
}

function found({ win }: MatchContext, calls: readonly WrittenCall[], end: number): Match {
  return { kind: 'calls', end, found: calls.map((call) => foundOf(call, win.slice(end, end))) };
}
