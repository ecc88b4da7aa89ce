// Owns calls without any container: a JSON object or array (also `;`-separated ones), a list or lines of Python calls, `name\n{…}`,
// `call:name{…}`, `functools[…]`. Strict: each name is declared, all keys are call keys or declared parameters, and the text stands alone (prose
// guard). A JSON value that is no call is passed as a whole, so that nothing inside it is taken for one.

import { readCallBody } from './call-body.ts';
import { callsOfValue, fitsTool, lacksArguments, type WrittenCall } from './call-of-value.ts';
import { readNamedCall, readPythonCall, readPythonList, WRAPPERS } from './named-call.ts';
import {
  announcesExample,
  asText,
  callsMatch,
  endsMessage,
  isCallCloser,
  isQuoted,
  isStopAt,
  type Match,
  type MatchContext,
  malformed,
  type ReadUnit,
  standsAlone,
  type UnitRead,
  writtenName,
} from './prose.ts';
import { FIRST_KEYS } from './tables.rules.ts';
import { readValue, type ValueOptions, type ValueRead } from './value-reader.ts';
import { readTag, type TextWindow } from './window.ts';

export function matchBareValue(context: MatchContext, pos: number): Match | null {
  const { win, catalog, prose } = context;
  const list = win.char(pos) === '[' ? readList(context, pos) : null;
  if (list && !list.ok) return null;
  if (list) return bareCalls(context, pos, withMore(context, list, nextList), false);
  if (!prose.atLineStart && !beginsCall(win, pos)) return null;
  const read = readBare(context, pos);
  if (!read.ok) return failed(context, pos, read);
  const calls = callsOfValue(read.value, { catalog, strict: true });
  if (!calls) return asText(read.end);
  if (read.cut && calls.some(lacksArguments)) return failed(context, pos, { truncated: true, open: pos });
  const run = withMore(context, { ok: true, calls, end: read.end }, nextObject);
  const separator = win.skipBlank(run.end);
  return bareCalls(context, pos, win.char(separator) === ';' ? { ...run, end: separator + 1 } : run, true);
}

/** A message that begins with a list of calls is read again with loose quotation marks; this can happen only once. */
function readList(context: MatchContext, pos: number): UnitRead {
  const { win, prose } = context;
  const list = readPythonList(context, pos);
  if (!list || list.ok || list.truncated || prose.hasText) return list;
  win.isEnd(win.text.length);
  const loose = readPythonList(context, pos, { looseLimit: win.text.length });
  return loose?.ok ? loose : list;
}

/** As `readList`, for a call object. */
function readBare({ win, prose }: MatchContext, pos: number): ValueRead {
  const options: ValueOptions = { isStop: (at) => isStopAt(win, at) };
  const read = readValue(win, pos, options);
  if (read.ok || read.truncated || prose.hasText || !beginsCall(win, pos)) return read;
  win.isEnd(win.text.length);
  const loose = readValue(win, pos, { ...options, bare: true, looseLimit: win.text.length });
  return loose.ok ? loose : read;
}

/** In mid-line only what begins like a call object is worth reading. */
function beginsCall(win: TextWindow, pos: number): boolean {
  let at = win.skipSpace(pos + 1);
  if (win.char(pos) === '[') {
    if (win.char(at) !== '{') return false;
    at = win.skipSpace(at + 1);
  }
  return /["']/.test(win.char(at)) && FIRST_KEYS.has(win.identifier(at + 1));
}

type Failed = Pick<Extract<ValueRead, { ok: false }>, 'truncated' | 'open'>;

function failed(context: MatchContext, pos: number, { truncated, open }: Failed): Match | null {
  const { win, catalog, prose } = context;
  const end = win.text.length;
  const isCut = truncated && prose.atLineStart && beginsCall(win, pos) && !announcesExample(context);
  const written = isCut ? writtenName(win.slice(pos, pos + 300)) : null;
  if (written !== null && catalog.resolve(written))
    return { kind: 'calls', end, found: [malformed('truncated', written, win.slice(pos, end))] };
  // What the failed value had still open fails in the same place: go on behind it.
  return open > pos ? asText(open + 1) : null;
}

type Next = (context: MatchContext, end: number) => UnitRead;

/** Calls that stand behind each other. */
function withMore(context: MatchContext, first: ReadUnit, next: Next): ReadUnit {
  const calls = [...first.calls];
  let end = first.end;
  for (let more = next(context, end); more?.ok; more = next(context, end)) {
    calls.push(...more.calls);
    end = more.end;
  }
  return { ok: true, calls, end };
}

/** Behind white space and one separator. */
function behindSeparator(win: TextWindow, at: number): number {
  return win.char(at) === ';' || win.char(at) === ',' ? win.skipSpace(at + 1) : at;
}

/** `[f(…)][g(…)]` and lists with a comma between them. */
function nextList(context: MatchContext, end: number): UnitRead {
  return readPythonList(context, behindSeparator(context.win, context.win.skipBlank(end)));
}

/** `{…}; {…}` and several objects after each other. */
function nextObject({ win, catalog }: MatchContext, end: number): UnitRead {
  const at = behindSeparator(win, win.skipSpace(end));
  if (win.char(at) !== '{') return null;
  const read = readValue(win, at, { isStop: (stop) => isStopAt(win, stop) });
  const calls = read.ok ? callsOfValue(read.value, { catalog, strict: true }) : null;
  return read.ok && calls ? { ok: true, calls, end: read.end } : null;
}

/** @param inline they may also end a line of prose */
function bareCalls(context: MatchContext, pos: number, { calls, end }: ReadUnit, inline: boolean): Match {
  const { win, prose } = context;
  // Behind brackets that close nothing.
  const spare = win.skipSpace(end);
  const closers = /^[}\]]{0,4}/.exec(win.slice(spare, spare + 4))?.[0].length ?? 0;
  const whole = closers > 0 && endsMessage(win, spare + closers) ? spare + closers : end;
  const declared = calls.every((call) => call.tool !== null);
  const placed = (inline || prose.atLineStart) && (standsAlone(context, whole) || isClosedBehind(context, whole));
  return declared && placed ? callsMatch(context, pos, calls, whole) : asText(whole);
}

/** `{…}</tool_call>`: only the opening tag is missing. */
function isClosedBehind({ win, prose }: MatchContext, end: number): boolean {
  const at = win.skipSpace(end);
  const tag = win.char(at) === '<' ? readTag(win, at) : null;
  return tag !== null && isCallCloser(tag) && prose.inlineRun === 0;
}

/** DeepSeek's `function<sep>name` without its token. */
const GLUED_KIND = /^function(?=[a-z])/i;

/** A word that may be a tool's name begins at `pos`, the first on its line. */
export function matchNamedLine(context: MatchContext, pos: number): Match | null {
  const { win, catalog } = context;
  const word = win.identifier(pos);
  if (word === '') return null;
  if (word.startsWith('call:')) return matchCallPrefix(context, pos);
  if (word === 'functools' && win.char(pos + 9) === '[') return functools(context, pos + 9);
  const plain = word.replace(/[:=./-]+$/, '');
  const name = catalog.resolve(plain) ? plain : plain.replace(GLUED_KIND, '');
  if (!WRAPPERS.has(word) && !catalog.resolve(name)) return null;
  if (win.char(win.skipBlank(pos + word.length)) === '(') return pythonLines(context, pos);
  const from = pos + word.indexOf(name);
  const first = nextNamed(context, from);
  if (!first?.ok) return null;
  // `name{…}name{…}`: what remains of several calls when the tokens between them were stripped.
  const { calls, end } = withMore(context, first, nextNamed);
  const placed = standsAlone(context, end) && (name === word || endsMessage(win, end));
  return placed ? callsMatch(context, pos, calls, end) : asText(end);
}

/** A declared tool with arguments that it declares; a fence between name and object is passed. */
function nextNamed(context: MatchContext, at: number): UnitRead {
  const { win } = context;
  const unit = /[\p{L}_]/u.test(win.char(at)) ? readNamedCall(context, at, { contained: false }) : null;
  if (!unit?.ok || !unit.calls.every(fits)) return null;
  const close = win.skipSpace(unit.end);
  const isFenced = win.slice(at, unit.end).includes('```') && win.startsWith('```', close);
  return isFenced ? { ...unit, end: close + 3 } : unit;
}

function fits({ tool, arguments: args }: WrittenCall): boolean {
  return tool !== null && (tool.properties.size === 0 || fitsTool(args, tool));
}

/** `call:name{…}` or `call:name(…)`, also within a line. */
export function matchCallPrefix(context: MatchContext, pos: number): Match | null {
  const { win } = context;
  if (!win.startsWith('call:', pos)) return null;
  const unit = readNamedCall(context, pos, { contained: false });
  if (!unit?.ok || !unit.calls.every((call) => call.tool !== null)) return null;
  const placed = !isQuoted(context, unit.end) && (standsAlone(context, unit.end) || endsWithMore(context, unit.end));
  return placed ? callsMatch(context, pos, unit.calls, unit.end) : asText(unit.end);
}

/** The next call follows directly. */
function endsWithMore({ win, prose }: MatchContext, end: number): boolean {
  const next = behindSeparator(win, win.skipSpace(end));
  return (prose.atLineStart || prose.afterCall) && win.startsWith('call:', next);
}

function functools(context: MatchContext, pos: number): Match | null {
  const { found, end } = readCallBody(context, pos);
  const called = found.some(({ kind }) => kind === 'call') && !isQuoted(context, end);
  return called ? { kind: 'calls', end, found } : null;
}

/** One or more lines, each a call of a declared tool, up to the end of the message (or the message begins with them). */
function pythonLines(context: MatchContext, pos: number): Match | null {
  const { win, prose } = context;
  const first = declaredCall(context, pos);
  if (!first?.ok) return null;
  const nextLine: Next = (_, end) => declaredCall(context, behindSeparator(win, win.skipSpace(end)));
  const { calls, end } = withMore(context, first, nextLine);
  const alone = endsMessage(win, end) || (!prose.hasText && win.char(win.skipBlank(end)) === '\n');
  return alone && standsAlone(context, end) ? callsMatch(context, pos, calls, end) : asText(end);
}

function declaredCall(context: MatchContext, at: number): UnitRead {
  const read = context.win.isEnd(at) ? null : readPythonCall(context, at);
  return read?.ok && read.calls.every((call) => call.tool !== null) ? read : null;
}
