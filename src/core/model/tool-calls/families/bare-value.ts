/**
 * Owns calls without any container: a JSON object or array (also `;`-separated ones), a list of Python calls. Strict: each
 * name is declared, all keys are call keys or declared parameters, and the text stands alone (prose guard). A JSON value
 * that is no call is passed as a whole, so that nothing inside it is taken for one.
 */
import { announcesExample, asText, endsMessage, standsAlone } from '../prose-guard.ts';
import { callsOfValue, lacksArguments, type WrittenCall } from '../reading/call-of-value.ts';
import { type PythonRead, readPythonList } from '../reading/python-call.ts';
import { readTag } from '../reading/tag.ts';
import { readValue, type ValueRead } from '../reading/value-reader.ts';
import { FIRST_KEYS } from '../tables/call-keys.ts';
import { tagRole } from '../tables/tag-roles.ts';
import { foundOf, isStopAt, type Match, type MatchContext, malformed, writtenName } from './match.ts';

export function matchBareValue(context: MatchContext, pos: number): Match | null {
  const { win, prose } = context;
  const list = win.char(pos) === '[' ? readList(context, pos) : null;
  if (list)
    return list.ok ? bareCalls(context, { pos, ...moreLists(context, list.end, list.calls), inline: false }) : null;
  if (!prose.atLineStart && !beginsCall(context, pos)) return null;
  const read = readBare(context, pos);
  if (!read.ok) return failed(context, pos, read);
  const calls = callsOfValue(read.value, { catalog: context.catalog, strict: true });
  if (!calls) return asText(read.end);
  if (read.cut && calls.some(lacksArguments))
    return failed(context, pos, { ok: false, truncated: true, at: read.end, open: pos });
  return bareCalls(context, { pos, ...moreCalls(context, read.end, calls), inline: true });
}

/** A message that begins with a list of calls is read again with loose quotation marks; this can happen only once. */
function readList({ win, catalog, prose }: MatchContext, pos: number): PythonRead | null {
  const list = readPythonList({ win, catalog }, pos);
  if (!list || list.ok || list.truncated || prose.hasText) return list;
  win.isEnd(win.text.length);
  const loose = readPythonList({ win, catalog, options: { looseLimit: win.text.length } }, pos);
  return loose?.ok ? loose : list;
}

/** In mid-line only what begins like a call object is worth reading. */
function beginsCall({ win }: MatchContext, pos: number): boolean {
  let at = win.skipSpace(pos + 1);
  if (win.char(pos) === '[') {
    if (win.char(at) !== '{') return false;
    at = win.skipSpace(at + 1);
  }
  const quoted = win.char(at) === '"' || win.char(at) === "'";
  if (!quoted) return false;
  const key = win.identifier(at + 1);
  return FIRST_KEYS.has(key);
}

/** A message that begins with a call object is read again with loose quotation marks; this can happen only once. */
function readBare(context: MatchContext, pos: number): ValueRead {
  const { win, prose } = context;
  const isStop = (at: number) => isStopAt(win, at);
  const read = readValue(win, pos, { isStop });
  if (read.ok || read.truncated || prose.hasText || !beginsCall(context, pos)) return read;
  win.isEnd(win.text.length);
  const loose = readValue(win, pos, { isStop, bare: true, looseLimit: win.text.length });
  return loose.ok ? loose : read;
}

function failed(context: MatchContext, pos: number, read: Extract<ValueRead, { ok: false }>): Match | null {
  const { win } = context;
  const end = win.text.length;
  const written = read.truncated ? truncatedName(context, pos) : null;
  if (written !== null) return { kind: 'calls', end, found: [malformed('truncated', written, win.slice(pos, end))] };
  // What the failed value had still open fails in the same place: go on behind it.
  return read.open > pos ? asText(read.open + 1) : null;
}

/** The declared name in a call object that the end of the text cut off, else null. */
function truncatedName(context: MatchContext, pos: number): string | null {
  if (!context.prose.atLineStart || !beginsCall(context, pos) || announcesExample(context)) return null;
  const written = writtenName(context.win.slice(pos, pos + 300));
  return written !== null && context.catalog.resolve(written) ? written : null;
}

/** `[f(…)][g(…)]` and lists with a comma between them. */
function moreLists(
  { win, catalog }: MatchContext,
  start: number,
  first: readonly WrittenCall[],
): { calls: WrittenCall[]; end: number } {
  const calls = [...first];
  let end = start;
  for (;;) {
    let at = win.skipBlank(end);
    if (win.char(at) === ',' || win.char(at) === ';') at = win.skipSpace(at + 1);
    const next = readPythonList({ win, catalog }, at);
    if (!next?.ok) return { calls, end };
    calls.push(...next.calls);
    end = next.end;
  }
}

/** `{…}; {…}` and several objects after each other. */
function moreCalls(
  context: MatchContext,
  start: number,
  first: readonly WrittenCall[],
): { calls: WrittenCall[]; end: number } {
  const calls = [...first];
  let end = start;
  for (let next = nextCalls(context, end); next; next = nextCalls(context, end)) {
    calls.push(...next.calls);
    end = next.end;
  }
  const separator = context.win.skipBlank(end);
  return { calls, end: context.win.char(separator) === ';' ? separator + 1 : end };
}

function nextCalls({ win, catalog }: MatchContext, end: number): { calls: WrittenCall[]; end: number } | null {
  let at = win.skipSpace(end);
  if (win.char(at) === ';' || win.char(at) === ',') at = win.skipSpace(at + 1);
  if (win.char(at) !== '{') return null;
  const read = readValue(win, at, { isStop: (stop) => isStopAt(win, stop) });
  const calls = read.ok ? callsOfValue(read.value, { catalog, strict: true }) : null;
  return read.ok && calls ? { calls, end: read.end } : null;
}

interface BareCalls {
  readonly pos: number;
  readonly end: number;
  readonly calls: readonly WrittenCall[];
  /** May also end a line of prose. */
  readonly inline: boolean;
}

function bareCalls(context: MatchContext, { pos, end, calls, inline }: BareCalls): Match {
  const { win, prose } = context;
  const spare = spareClosers(context, end);
  if (spare > end && endsMessage(context.win, spare)) return bareCalls(context, { pos, end: spare, calls, inline });
  const declared = calls.every((call) => call.tool !== null);
  const placed = (inline || prose.atLineStart) && (standsAlone(context, end) || isClosedBehind(context, end));
  if (!declared || !placed) return asText(end);
  return { kind: 'calls', end, found: calls.map((call) => foundOf(call, win.slice(pos, end))) };
}

/** Behind brackets that close nothing. */
function spareClosers({ win }: MatchContext, end: number): number {
  let at = win.skipSpace(end);
  const start = at;
  while (at < start + 4 && (win.char(at) === '}' || win.char(at) === ']')) at += 1;
  return at > start ? at : end;
}

/** `{…}</tool_call>`: only the opening tag is missing. */
function isClosedBehind(context: MatchContext, end: number): boolean {
  const { win } = context;
  const at = win.skipSpace(end);
  const tag = win.char(at) === '<' ? readTag(win, at) : null;
  const closes =
    tag !== null && (tagRole(tag.name) === 'call-close' || (tagRole(tag.name) === 'call-open' && tag.closing));
  return closes && context.prose.inlineRun === 0;
}
