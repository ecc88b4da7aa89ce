/**
 * Owns code fences. A fence of a call language (`tool_code`, `tool_call`, …) is a call container. A `json` or unnamed one
 * counts like bare JSON: its whole body is calls of declared tools and no phrase before it announces an example. A fence
 * of another language counts only when it is the whole message. Any other fence is code: nothing inside is a call.
 */
import { announcesExample, endsMessage, isQuoted } from '../prose-guard.ts';
import { readCallBody } from './call-body.ts';
import type { Match, MatchContext } from './match.ts';

const CALL_LANGUAGES =
  /^(?:tool_code|tool-code|toolcode|tool_call|tool_calls|toolcall|tool_use|tool|tools|function_call|function_calls|functioncall|function|functions|action|call)$/i;
const DATA_LANGUAGES = /^(?:json|jsonc|json5|jsonl|js|javascript|plaintext|)$/i;
const RESULT_LANGUAGES =
  /^(?:tool_output|tool_outputs|tool_response|tool_result|tool_results|observation|function_response|function_result|output)$/i;
const LIST_ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+\S/;

/** A run of three or more backticks (or tildes) stands at `pos`. */
export function matchFence(context: MatchContext, pos: number): Match | null {
  const { win, prose } = context;
  const run = fenceRun(context, pos);
  const language = win.identifier(pos + run.length);
  const start = pos + run.length + language.length;
  if (RESULT_LANGUAGES.test(language) && prose.calls > 0 && (prose.afterCall || language !== 'output'))
    return { kind: 'result', end: blockEnd(context, start) };
  const calls = fencedCalls(context, language, start);
  return calls ?? codeBlock(context, start, run);
}

/** The whole run of the fence character at `pos`. */
export function fenceRun({ win }: MatchContext, pos: number): string {
  const code = win.code(pos);
  let end = pos;
  while (win.code(end) === code) end += 1;
  return win.slice(pos, end);
}

function fencedCalls(context: MatchContext, language: string, start: number): Match | null {
  const { win, prose } = context;
  const called = CALL_LANGUAGES.test(language);
  const open = called || DATA_LANGUAGES.test(language);
  if (!open && prose.hasText) return null;
  const strict = !called;
  const body = readCallBody(context, start, { strict, fenced: true });
  if (body.ending !== 'closed' || body.found.length === 0 || !closedByFence(context, body.end)) return null;
  if (strict && body.found.some(({ kind }) => kind === 'malformed')) return null;
  if (!open && !endsMessage(win, body.end)) return null;
  if (announcesExample(context) || isQuoted(context, body.end) || (strict && LIST_ITEM.test(prose.line))) return null;
  return { kind: 'calls', end: body.end, found: body.found };
}

/** The body ended at its fence, or the text ended before one. */
function closedByFence({ win }: MatchContext, end: number): boolean {
  return win.slice(end - 3, end) === '```' || win.isEnd(win.skipSpace(end));
}

function codeBlock({ win }: MatchContext, start: number, run: string): Match {
  const line = win.lineEnd(start);
  const inline = win.slice(start, line).indexOf(run);
  if (inline !== -1) return { kind: 'text', end: start + inline + run.length };
  return { kind: 'code', end: line, fence: run };
}

function blockEnd({ win }: MatchContext, start: number): number {
  const close = win.find('\n```', start);
  return close === -1 ? win.text.length : close + 4;
}
