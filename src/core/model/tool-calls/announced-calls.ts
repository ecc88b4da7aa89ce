// Owns calls that a label or a channel header announces: ReAct (`Action: name` / `Action Input: {…}`), Cohere (`Action:` and a fenced list),
// Qwen, gpt-oss (`<|channel|>commentary to=functions.name …<|message|>{…}`, also with its tokens stripped), Functionary (`>>>name`). A label's name
// must be declared; a tool with one parameter takes plain text; a header is at most 300 characters, and one without a recipient is a leaked token.
import { isAllCalls, readCallBody } from './call-body.ts';
import {
  argumentRecord,
  coerceText,
  type DeclaredTool,
  isRecord,
  lacksArguments,
  type WrittenCall,
} from './call-of-value.ts';
import { fenceLineEnd, readNamedCall } from './named-call.ts';
import {
  announcesExample,
  attempt,
  type CallsMatch,
  callsMatch,
  endsMessage,
  foundOf,
  isQuoted,
  isStopAt,
  type Match,
  type MatchContext,
} from './prose.ts';
import { readValue, type ValueOptions, type ValueRead } from './value-reader.ts';
import type { Tag, TextWindow } from './window.ts';

const LABELS =
  'action|tool call|tool_call|tool name|tool|function call|function_call|function name|function|✿function✿'.split('|');
const INPUTS =
  '✿args✿|action input|action_input|tool input|tool_input|tool arguments|function arguments|input|arguments|args|parameters|params|with arguments|with parameters'.split(
    '|',
  );
const INPUT_END = /\n\s*(?:observation|thought|action|final answer|result)\b/i;
const MAX_NAME = 120;

/** One of the labels stands at `pos`, the first on its line. */
export function matchLabelledLine(context: MatchContext, pos: number): Match | null {
  const start = labelEnd(context.win, pos, LABELS);
  if (start === -1) return null;
  const at = context.win.skipSpace(start);
  const read = /[`[{]/.test(context.win.char(at)) ? listAfterLabel(context, at) : callAfterLabel(context, at);
  return !read || announcesExample(context) || isQuoted(context, read.end) ? null : read;
}

/** Index behind `**label**:` if one of `labels` stands at `pos`, else -1. */
function labelEnd(win: TextWindow, pos: number, labels: readonly string[]): number {
  let at = pos;
  while (win.char(at) === '*') at += 1;
  for (const label of labels) {
    if (!startsWithLabel(win, at, label)) continue;
    let end = at + label.length;
    while (/[*\s\d]/.test(win.char(end)) && win.char(end) !== '\n') end += 1;
    if (win.char(end) !== ':') continue;
    end += 1;
    while (win.char(end) === '*') end += 1;
    return end;
  }
  return -1;
}

/** In any case; one that the end of an unfinished text may have cut off touches that end. */
function startsWithLabel(win: TextWindow, at: number, label: string): boolean {
  const written = win.slice(at, at + label.length).toLowerCase();
  if (written.length < label.length && label.startsWith(written)) win.code(at + label.length);
  return written === label;
}

function listAfterLabel(context: MatchContext, at: number): Match | null {
  const start = fenceLineEnd(context.win, at);
  const { found, end } = readCallBody(context, start, { strict: true, fenced: start > at });
  return isAllCalls(found) ? { kind: 'calls', end, found } : null;
}

function callAfterLabel(context: MatchContext, at: number): Match | null {
  const { win, catalog } = context;
  const start = /["'*]/.test(win.char(at)) ? at + 1 : at;
  const written = win.identifier(start);
  const tool = written.length > MAX_NAME ? null : catalog.resolve(written);
  if (!tool) return null;
  let end = start + written.length;
  while (/["'*`]/.test(win.char(end))) end += 1;
  const next = win.skipSpace(end);
  const input = labelEnd(win, next, INPUTS);
  if (input !== -1) return inputAfterLabel(context, { tool, written, arguments: {} }, win.skipSpace(input));
  const direct = /[({]/.test(win.char(next)) ? readNamedCall(context, start, { contained: false }) : null;
  if (direct?.ok) return callsMatch(context, direct.end, direct.calls, direct.end);
  const alone = endsMessage(win, end) && !(win.isEnd(next) && tool.required.length > 0);
  return alone ? callsMatch(context, end, [{ written, tool, arguments: {} }], end) : null;
}

type KnownCall = WrittenCall & { readonly tool: DeclaredTool };

function inputAfterLabel(context: MatchContext, call: KnownCall, start: number): Match {
  const { win } = context;
  const fence = fenceLineEnd(win, start);
  const from = fence > start ? win.skipSpace(fence) : start;
  if (win.char(from) !== '{') return plainInput(context, call, from);
  const read = readValue(win, from, { bare: true, isStop: (at) => isStopAt(win, at) });
  if (!read.ok) return brokenInput(win, call, from, read.truncated);
  const given = { ...call, arguments: argumentRecord(read.value) ?? {} };
  if (read.cut && lacksArguments(given)) return brokenInput(win, call, from, true);
  const close = fence > start ? win.skipSpace(read.end) : -1;
  const end = close !== -1 && win.startsWith('```', close) ? close + 3 : read.end;
  return callsMatch(context, from, [given], end);
}

/** Lasts to the next label or the end of its line. */
function plainInput(context: MatchContext, call: KnownCall, from: number): Match {
  const { win } = context;
  const { tool } = call;
  if (win.isEnd(from) && tool.required.length > 0) return brokenInput(win, call, from, true);
  const line = win.slice(from, win.lineEnd(from));
  const text = line.slice(0, INPUT_END.exec(line)?.index);
  return callsMatch(context, from, [{ ...call, arguments: textInput(tool, text.trim()) }], from + text.length);
}

function brokenInput(win: TextWindow, { written }: WrittenCall, start: number, truncated: boolean): Match {
  const end = truncated ? win.text.length : win.lineEnd(start);
  return { kind: 'calls', end, found: [attempt(truncated, written, win.slice(start, end))] };
}

function textInput(tool: DeclaredTool, text: string): Record<string, unknown> {
  const [only] = tool.properties.entries();
  if (!only || text === '' || /^(?:none|null|n\/a|\{\}|no input)$/i.test(text)) return {};
  return { [only[0]]: coerceText(text.replace(/^(["'])(.*)\1$/, '$2'), only[1]) };
}

const MAX_HEADER = 300;
const RECIPIENT = /\bto=\s*([\w.\-:/]+)/;
const ANALYSIS_CLOSERS = ['<|end|>', '<|return|>', '<|call|>', 'assistantfinal'];
const ANALYSIS_STOPS = ['<|channel|>', '<|start|>'];
const BODY_MARKS = ['<|message|>', '<|content|>'];

/** `tag` is `<|start|>`, `<|channel|>`, `<|from|>` or `<|recipient|>` at `pos`. */
export function matchHeader(context: MatchContext, tag: Tag): Match | null {
  const header = readHeader(context.win, tag.end);
  if (!header) return { kind: 'drop', end: tag.end };
  const { text, end } = header;
  const recipient = RECIPIENT.exec(text)?.[1] ?? (tag.name === 'recipient' ? text.trim().split(/\s/)[0] : undefined);
  if (recipient !== undefined && recipient !== 'all' && recipient !== 'user')
    return recipientCall(context, recipient, end);
  if (/\banalysis\b/.test(text)) return { kind: 'reasoning', end, closers: ANALYSIS_CLOSERS, stops: ANALYSIS_STOPS };
  if (/^\s*(?:functions\.|tool)/.test(text)) return { kind: 'result', end };
  return { kind: /^\s*(?:user|system|developer)\b/.test(text) ? 'foreign-turn' : 'drop', end };
}

/** The header between a start token and its body; null when no body mark comes in time. */
function readHeader(win: TextWindow, start: number): { text: string; end: number } | null {
  for (let at = start; at < start + MAX_HEADER; at += 1) {
    const char = win.char(at);
    if (char === '' || char === '{') return null;
    const mark = char === '<' ? BODY_MARKS.find((candidate) => win.startsWith(candidate, at)) : undefined;
    if (mark === undefined) continue;
    const text = win.slice(start, at).replace('<|recipient|>', ' to=');
    return { text: text.replace(/<\|\w+\|>/g, ' '), end: at + mark.length };
  }
  return null;
}

/** What stands behind a recipient: an object, a call in another notation, or the plain text of the only argument. */
function recipientCall(context: MatchContext, written: string, pos: number): Match {
  const { win, catalog } = context;
  const start = win.skipSpace(pos);
  const tool = catalog.resolve(written);
  const read = readValue(win, start, bodyValues(context));
  const object = objectCall(context, { written, pos, read });
  if (object) return object;
  const body = readCallBody(context, start);
  if (body.found.length > 0) return { kind: 'calls', end: body.end, found: body.found };
  const close = win.find('<|', start);
  const end = close === -1 ? win.text.length : close;
  const text = win.slice(start, end).trim();
  const [only] = tool?.properties.keys() ?? [];
  if (tool?.properties.size === 1 && only !== undefined && !/^[{[]/.test(text))
    return callsMatch(context, end, [{ written, tool, arguments: { [only]: text } }], end);
  return { kind: 'calls', end, found: [attempt(!read.ok && read.truncated, written, win.slice(pos, end))] };
}

function bodyValues({ win }: MatchContext): ValueOptions {
  return { bare: true, isStop: (at) => isStopAt(win, at) || win.startsWith('<|', at) };
}

interface Addressed {
  readonly written: string;
  readonly pos: number;
  readonly read: ValueRead;
}

/** The call whose arguments were read behind `pos`, or null when they are no object. */
function objectCall({ win, catalog }: MatchContext, { written, pos, read }: Addressed): CallsMatch | null {
  if (!read.ok || !isRecord(read.value)) return null;
  const call = { written, tool: catalog.resolve(written), arguments: read.value };
  const raw = win.slice(pos, read.end);
  const found = read.cut && lacksArguments(call) ? attempt(true, written, raw) : foundOf(call, raw);
  return { kind: 'calls', end: read.end, found: [found] };
}

/** `>>>name\n{…}`, also glued to text, and `>>>all\n…` at the start of a line. */
export function matchChevrons(context: MatchContext, pos: number): Match | null {
  const { win, prose } = context;
  if (!win.startsWith('>>>', pos)) return null;
  const written = win.identifier(pos + 3);
  const end = pos + 3 + written.length;
  if (written === 'all' && prose.atLineStart && win.char(win.skipBlank(end)) === '\n') return { kind: 'drop', end };
  if (!context.catalog.resolve(written) || (!prose.atLineStart && win.char(end) !== '\n')) return null;
  return win.char(win.skipSpace(end)) === '{' && prose.inlineRun === 0 ? recipientCall(context, written, end) : null;
}

// gpt-oss without its tokens: `assistantcommentary to=functions.name json{…}`, `analysisWe need …assistantfinal…`.

const MAX_HEAD = 200;
const CHANNELS = '(?:analysis|commentary|final)';
const HEAD = new RegExp(
  `^(?:assistant)?\\s*${CHANNELS}?[ \\t]*to=[ \\t]*([\\w.:/-]+?)[ \\t]*${CHANNELS}?[ \\t]*(?:code|json)?\\s*$`,
);
const FIRST_WORDS = new Set(['assistantcommentary', 'commentary', 'assistantanalysis', 'analysis', 'assistant', 'to']);
const ANALYSIS = /^(?:assistant)?analysis(?=[^\sa-z])/;
const FINAL = 'assistantfinal';
const NEXT = 'assistantcommentary';

/** At the start of a line, or behind text at `commentary to=`. */
export function matchStrippedCall(context: MatchContext, pos: number): Match | null {
  const { win, catalog } = context;
  if (!FIRST_WORDS.has(win.identifier(pos))) return null;
  let open = pos;
  while (open < pos + MAX_HEAD && !/^[{<]?$/.test(win.char(open))) open += 1;
  const written = win.char(open) === '{' ? HEAD.exec(win.slice(pos, open))?.[1] : undefined;
  if (written === undefined || !catalog.resolve(written)) return null;
  const match = objectCall(context, { written, pos: open, read: readValue(win, open, bodyValues(context)) });
  if (!match || !isAllCalls(match.found)) return null;
  return isQuoted(context, match.end) || announcesExample(context) ? null : match;
}

/** `analysisWe need …`, at the start of a line. */
export function matchStrippedAnalysis({ win, prose }: MatchContext, pos: number): Match | null {
  if (prose.afterCall && win.startsWith(FINAL, pos)) return { kind: 'drop', end: pos + FINAL.length };
  if (prose.hasText || !/[aA]/.test(win.char(pos))) return null;
  win.code(pos + 20);
  const head = ANALYSIS.exec(win.slice(pos, pos + 20))?.[0];
  if (head === undefined) return null;
  const end = pos + head.length;
  const goesOn = win.find(FINAL, end) !== -1 || win.find(NEXT, end) !== -1;
  return goesOn ? { kind: 'reasoning', end, closers: [FINAL], stops: [NEXT] } : null;
}
