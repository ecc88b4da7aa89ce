/**
 * Owns calls that a line begins with, without a container: GLM `name\n{…}`, `call:name{…}`, lines of Python calls at the
 * end of the message, `functools[…]`. Strict: declared name, declared arguments, alone on the line(s) (prose guard).
 */
import { asText, endsMessage, isQuoted, standsAlone } from '../prose-guard.ts';
import type { WrittenCall } from '../reading/call-of-value.ts';
import { readPythonCall } from '../reading/python-call.ts';
import { readCallBody } from './call-body.ts';
import { foundOf, type Match, type MatchContext } from './match.ts';
import { readNamedCall } from './named-call.ts';

/** DeepSeek's `function<sep>name` without its token. */
const GLUED_KIND = /^function(?=[a-z])/i;
const WRAPPER_WORDS = new Set(['print', 'await']);

/** A word that may be a tool's name begins at `pos`, the first on its line. */
export function matchNamedLine(context: MatchContext, pos: number): Match | null {
  const { win, catalog } = context;
  const word = win.identifier(pos);
  if (word === '') return null;
  if (word.startsWith('call:')) return matchCallPrefix(context, pos);
  if (word === 'functools' && win.char(pos + 9) === '[') return functools(context, pos + 9);
  const name = nameOf(context, word);
  if (!WRAPPER_WORDS.has(word) && !catalog.resolve(name)) return null;
  if (win.char(win.skipBlank(pos + word.length)) === '(') return pythonLines(context, pos);
  const run = namedRun(context, pos + word.indexOf(name));
  if (!run) return null;
  const placed = standsAlone(context, run.end) && (name === word || endsMessage(win, run.end));
  return placed ? calls(context, { pos, end: run.end, list: run.list }) : asText(run.end);
}

/** `name{…}name{…}`: what remains of several calls when the tokens between them were stripped. */
function namedRun(context: MatchContext, pos: number): { list: readonly WrittenCall[]; end: number } | null {
  const list: WrittenCall[] = [];
  let end = pos;
  for (let at = pos; ; at = end) {
    const unit = /[\p{L}_]/u.test(context.win.char(at)) ? readNamedCall(context, at, { contained: false }) : null;
    if (!unit?.ok || !unit.calls.every(fits)) return list.length > 0 ? { list, end } : null;
    list.push(...unit.calls);
    end = fenceClose(context, at, unit.end);
  }
}

/** Behind the fence that was opened between name and object. */
function fenceClose({ win }: MatchContext, start: number, end: number): number {
  const close = win.skipSpace(end);
  return win.findBefore('```', start, end) !== -1 && win.startsWith('```', close) ? close + 3 : end;
}

function nameOf({ catalog }: MatchContext, word: string): string {
  const name = word.replace(/[:=./-]+$/, '');
  return catalog.resolve(name) ? name : name.replace(GLUED_KIND, '');
}

/** `call:name{…}` or `call:name(…)`, also within a line. */
export function matchCallPrefix(context: MatchContext, pos: number): Match | null {
  const { win } = context;
  if (!win.startsWith('call:', pos)) return null;
  const unit = readNamedCall(context, pos, { contained: false });
  if (!unit?.ok || !unit.calls.every((call) => call.tool !== null)) return null;
  if (isQuoted(context, unit.end)) return asText(unit.end);
  if (!standsAlone(context, unit.end) && !endsWithMore(context, unit.end)) return asText(unit.end);
  return calls(context, { pos, end: unit.end, list: unit.calls });
}

/** The next call follows directly. */
function endsWithMore({ win, prose }: MatchContext, end: number): boolean {
  const at = win.skipSpace(end);
  const next = win.char(at) === ',' || win.char(at) === ';' ? win.skipSpace(at + 1) : at;
  return (prose.atLineStart || prose.afterCall) && win.startsWith('call:', next);
}

function functools(context: MatchContext, pos: number): Match | null {
  const body = readCallBody(context, pos);
  const declared = body.found.length > 0 && body.found.some(({ kind }) => kind === 'call');
  if (!declared || isQuoted(context, body.end)) return null;
  return { kind: 'calls', end: body.end, found: body.found };
}

/** One or more lines, each a call of a declared tool, up to the end of the message (or the message begins with them). */
function pythonLines(context: MatchContext, pos: number): Match | null {
  const { win, prose } = context;
  const list: WrittenCall[] = [];
  let end = pos;
  for (let next = pythonLine(context, pos); next; next = pythonLine(context, lineAfter(context, end))) {
    list.push(...next.calls);
    end = next.end;
  }
  if (list.length === 0) return null;
  const alone = endsMessage(win, end) || (!prose.hasText && win.char(win.skipBlank(end)) === '\n');
  return alone && standsAlone(context, end) ? calls(context, { pos, end, list }) : asText(end);
}

function pythonLine({ win, catalog }: MatchContext, at: number): { calls: readonly WrittenCall[]; end: number } | null {
  const read = win.isEnd(at) ? null : readPythonCall({ win, catalog }, at);
  return read?.ok && read.calls.every((call) => call.tool !== null) ? read : null;
}

function lineAfter({ win }: MatchContext, end: number): number {
  const at = win.skipSpace(end);
  return win.char(at) === ';' || win.char(at) === ',' ? win.skipSpace(at + 1) : at;
}

/** A declared tool, and arguments that it declares. */
function fits({ tool, arguments: args }: WrittenCall): boolean {
  return tool !== null && (tool.properties.size === 0 || Object.keys(args).every((key) => tool.properties.has(key)));
}

interface CallList {
  readonly pos: number;
  readonly end: number;
  readonly list: readonly WrittenCall[];
}

function calls({ win }: MatchContext, { pos, end, list }: CallList): Match {
  return { kind: 'calls', end, found: list.map((call) => foundOf(call, win.slice(pos, end))) };
}
