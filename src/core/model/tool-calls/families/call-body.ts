/**
 * Owns the inside of a call container: any number of calls in any notation, with glue between them (separators, inner
 * tags, fences, stray closers). Every container takes every notation, so a wrong special token costs nothing. Tells
 * calls, malformed attempts and text that is no call apart; each character is read a bounded number of times.
 */
import { callsOfValue, lacksArguments, type WrittenCall } from '../reading/call-of-value.ts';
import { isCallWord, readDamagedCloser, resembles } from '../reading/damaged-closer.ts';
import { decodedBody } from '../reading/decoded-body.ts';
import { readPythonList } from '../reading/python-call.ts';
import { repairedBody } from '../reading/repaired-body.ts';
import { readTag } from '../reading/tag.ts';
import { TextWindow } from '../reading/text-window.ts';
import { readValue } from '../reading/value-reader.ts';
import { ARGUMENT_KEYS, FIRST_KEYS } from '../tables/call-keys.ts';
import { tagRole } from '../tables/tag-roles.ts';
import type { Found } from '../text-call.ts';
import { elementName, readElementCall, readNestedElement } from './element-call.ts';
import { foundOf, isStopAt, type MatchContext, malformed, type UnitRead, writtenName } from './match.ts';
import { readNamedCall } from './named-call.ts';

export interface BodyOptions {
  /** No container vouches for the body: declared names and call keys only. */
  readonly strict?: boolean;
  /** The body ends at a fence; Python statements around calls are glue. */
  readonly fenced?: boolean;
}

export interface BodyRead {
  readonly found: readonly Found[];
  readonly end: number;
  /** `closed`: a closing tag, the fence or the end of the text; `open`: other text follows. */
  readonly ending: 'closed' | 'open';
}

/** Reads calls from `pos` to the container's end. `found` is empty where nothing looks like a call. */
export function readCallBody(context: MatchContext, pos: number, options: BodyOptions = {}): BodyRead {
  const found: Found[] = [];
  const strict = options.strict === true;
  let end = pos;
  for (;;) {
    const glue = skipGlue(context, end, { hasCalls: found.length > 0, fenced: options.fenced === true });
    if (glue.closed) return { found, end: glue.end, ending: 'closed' };
    const { unit, start } = nextUnit(context, glue.end, { strict, first: found.length === 0 });
    if (!unit) return { found, end: found.length > 0 ? end : glue.end, ending: 'open' };
    end = addUnit(context, { unit, start, found, strict });
    if (!unit.ok && found.at(-1)?.kind === 'malformed') return { found, end, ending: 'closed' };
  }
}

/** The unit at `pos`, or the first one behind words that introduce it. */
function nextUnit(
  context: MatchContext,
  pos: number,
  { strict, first }: { readonly strict: boolean; readonly first: boolean },
): { readonly unit: UnitRead; readonly start: number } {
  const unit = readUnit(context, pos, { strict });
  const start = unit || strict || !first ? -1 : chatterEnd(context, pos);
  return start === -1 ? { unit, start: pos } : { unit: readUnit(context, start, { strict }), start };
}

/** `{"name": …} {"arguments": …}`: the arguments stand in an object of their own. */
function isSplit({ win }: MatchContext, unit: Extract<UnitRead, { ok: true }>): boolean {
  if (!unit.calls.some(lacksArguments)) return false;
  const at = win.skipSpace(unit.end);
  const open = win.char(at) === ',' ? win.skipSpace(at + 1) : at;
  return win.char(open) === '{' && ARGUMENT_KEYS.includes(win.identifier(win.skipSpace(open + 1) + 1));
}

const OUTER_KEYS = new Set(['name', 'tool_name', 'function', 'arguments']);
const MAX_CHATTER = 200;

/** Index of the call object that words introduce inside a container, on the next line; -1 when there is none. */
function chatterEnd({ win }: MatchContext, start: number): number {
  for (let at = start; at < start + MAX_CHATTER; at += 1) {
    const char = win.char(at);
    if (char === '' || char === '<' || char === '{' || char === '[') return -1;
    if (char !== '\n') continue;
    const open = win.skipSpace(at);
    const key = win.skipSpace(open + 1);
    if (win.char(open) === '{' && FIRST_KEYS.has(win.identifier(key + 1))) return open;
  }
  return -1;
}

interface UnitJob {
  readonly unit: NonNullable<UnitRead>;
  readonly start: number;
  readonly found: Found[];
  readonly strict: boolean;
}

interface UnitMode {
  readonly strict: boolean;
  /** Switches loose quotation marks on. */
  readonly looseLimit?: number;
}

/** Adds what one unit gave; a broken one is read again up to the container's end, loosely and without its escapes. */
function addUnit(context: MatchContext, { unit, start, found, strict }: UnitJob): number {
  const { win } = context;
  const add = (calls: readonly WrittenCall[], end: number): number => {
    for (const call of calls) found.push(foundOf(call, win.slice(start, end)));
    return end;
  };
  if (unit.ok && !isSplit(context, unit)) return add(unit.calls, unit.end);
  const limit = containerLimit(context, start);
  const loose = unit.ok ? null : readUnit(context, start, { strict, looseLimit: limit });
  if (loose?.ok && loose.end <= limit) return add(loose.calls, loose.end);
  const cut = !unit.ok && unit.truncated && limit >= win.text.length;
  const mended = readMended(context, win.slice(start, limit), { strict, cut });
  if (mended) return add(mended, limit);
  if (unit.ok) return add(unit.calls, unit.end);
  found.push(attemptOf(context, { unit, start, limit }));
  const tag = win.isEnd(limit) ? null : readTag(win, limit);
  return tag && isCloser(tag.name, tag.closing) ? tag.end : limit;
}

/** The calls in a body that was escaped as a whole, or can be mended; nothing may be left over. What was cut off is not mended. */
function readMended(
  context: MatchContext,
  raw: string,
  { strict, cut }: { readonly strict: boolean; readonly cut: boolean },
): readonly WrittenCall[] | null {
  for (const text of [decodedBody(raw), cut ? null : repairedBody(raw)]) {
    if (text === null) continue;
    const win = new TextWindow(text, true);
    const unit = readUnit({ ...context, win }, win.skipSpace(0), { strict });
    if (unit?.ok && /^[\s}\])"',;]*$/.test(text.slice(unit.end, unit.end + 200))) return unit.calls;
  }
  return null;
}

interface Attempt {
  readonly unit: Extract<NonNullable<UnitRead>, { ok: false }>;
  readonly start: number;
  readonly limit: number;
}

function attemptOf({ win }: MatchContext, { unit, start, limit }: Attempt): Found {
  const atEnd = unit.truncated && limit >= win.text.length;
  const raw = win.slice(start, limit).trimEnd();
  return malformed(atEnd ? 'truncated' : 'unparsable', unit.written ?? writtenName(raw), raw);
}

/** One call, or list of calls, in any notation. */
function readUnit(context: MatchContext, pos: number, mode: UnitMode): UnitRead {
  const char = context.win.char(pos);
  if (char === '{' || char === '[') return readValueUnit(context, pos, mode);
  if (char === '"' && context.win.char(pos + 1) === '{') return readQuotedUnit(context, pos, mode);
  if (!mode.strict && beginsWithKey(context, pos)) return { ok: false, truncated: false, written: null };
  if (char === '<') return readElementUnit(context, pos);
  return readNamedCall(context, pos, { contained: !mode.strict, looseLimit: mode.looseLimit });
}

function readElementUnit(context: MatchContext, pos: number): UnitRead {
  const tag = readTag(context.win, pos);
  if (!tag) return null;
  const name = elementName(tag);
  return name !== '' ? readElementCall(context, tag, name) : readNestedElement(context, tag);
}

/** A key word of a call object, its colon behind it, and no brace before it; or `function=name>` without its `<`. */
function beginsWithKey({ win }: MatchContext, pos: number): boolean {
  const quote = win.char(pos) === '"' ? 1 : 0;
  const word = win.identifier(pos + quote).replace(/:$/, '');
  if (!OUTER_KEYS.has(word)) return false;
  const end = pos + quote + word.length;
  if (quote === 0) return win.char(end) === ':' || (word === 'function' && win.char(end) === '=');
  return win.char(end) === '"' && win.char(win.skipBlank(end + 1)) === ':';
}

/** `{{…}}`: the braces of a template that was copied. */
function skipDoubled({ win }: MatchContext, pos: number): number {
  let at = pos;
  while (win.char(at) === '{' && win.char(at + 1) === '{') at += 1;
  return at;
}

/** A whole call as a JSON string. */
function readQuotedUnit(context: MatchContext, pos: number, mode: UnitMode): UnitRead {
  const unit = readValueUnit(context, pos, mode);
  return unit?.ok ? unit : null;
}

function readValueUnit(context: MatchContext, pos: number, { strict, looseLimit }: UnitMode): UnitRead {
  const { win, catalog } = context;
  const options = { bare: true, python: true, looseLimit, isStop: (at: number) => isStopAt(win, at) };
  const list = readPythonList({ win, catalog, options }, pos);
  if (list) return list;
  const read = readValue(win, skipDoubled(context, pos), options);
  if (!read.ok) return { ok: false, truncated: read.truncated, written: null };
  // An empty list says that no call is needed.
  const none = Array.isArray(read.value) && read.value.length === 0;
  const calls = none ? [] : callsOfValue(read.value, { catalog, strict });
  if (read.cut && calls?.some(lacksArguments)) return { ok: false, truncated: true, written: null };
  return calls ? { ok: true, calls, end: read.end } : { ok: false, truncated: false, written: null };
}

interface Glue {
  readonly end: number;
  readonly closed: boolean;
}

interface GlueMode {
  readonly hasCalls: boolean;
  readonly fenced: boolean;
}

function skipGlue(context: MatchContext, start: number, mode: GlueMode): Glue {
  let at = context.win.skipSpace(start);
  for (;;) {
    const glue = oneGlue(context, at, mode);
    if (glue.closed || glue.end === at) return glue;
    at = context.win.skipSpace(glue.end);
  }
}

function oneGlue(context: MatchContext, at: number, mode: GlueMode): Glue {
  const { win } = context;
  if (win.isEnd(at)) return { end: at, closed: true };
  if (mode.fenced && win.startsWith('```', at)) return { end: fenceEnd(context, at), closed: true };
  const char = win.char(at);
  const token = char === '<' || char === '[' ? tagGlue(context, at, mode) : null;
  return token ?? { end: plainGlue(context, at, mode), closed: false };
}

function fenceEnd({ win }: MatchContext, at: number): number {
  let end = at;
  while (win.code(end) === 96) end += 1;
  return end;
}

function tagGlue({ win }: MatchContext, at: number, { hasCalls, fenced }: GlueMode): Glue | null {
  const tag = readTag(win, at);
  if (!tag || (tag.closing && tagRole(tag.name) === 'none' && tag.name !== 'function')) return strayGlue(win, at);
  if (elementName(tag) !== '') return null;
  const role = tagRole(tag.name);
  if (fenced && role.startsWith('call-')) return { end: tag.end, closed: false };
  if (isCloser(tag.name, tag.closing)) return { end: tag.end, closed: true };
  if (role === 'separator' || (role === 'call-open' && !hasCalls)) return { end: tag.end, closed: false };
  // The next container, a result or a new turn is for the caller to see.
  return role === 'none' ? null : { end: at, closed: true };
}

/** A damaged closer of a container ends it; one of something inside a call is passed. */
function strayGlue(win: TextWindow, at: number): Glue | null {
  const closer = readDamagedCloser(win, at);
  if (!closer || !isCallWord(closer.word)) return null;
  return {
    end: closer.end,
    closed: ['tool_call', 'tool_calls', 'function_call'].some((name) => resembles(closer.word, name)),
  };
}

function isCloser(name: string, closing: boolean): boolean {
  const role = tagRole(name);
  return role === 'call-close' || (role === 'call-open' && closing) || (closing && name === 'function');
}

function plainGlue({ win }: MatchContext, at: number, { hasCalls, fenced }: GlueMode): number {
  const char = win.char(at);
  if (fenced) return statementGlue(win, at, char);
  if (char === '`' && win.startsWith('```', at)) return at + 3 + win.identifier(at + 3).length;
  if (char === ',' || char === ';' || char === '`') return at + 1;
  if (char === 'f') return kindWord(win, at);
  if (char === 'j' && !hasCalls && win.identifier(at) === 'json') return at + 4;
  return hasCalls && (char === '}' || char === ']' || char === ')') ? at + 1 : at;
}

/** DeepSeek's `function<sep>` where a call element follows. */
function kindWord(win: TextWindow, at: number): number {
  if (win.identifier(at) !== 'function') return at;
  const tag = readTag(win, at + 8);
  return tag && tagRole(tag.name) === 'separator' && win.char(win.skipSpace(tag.end)) === '<' ? tag.end : at;
}

/** `print(result)`: what an earlier call gave is printed. */
function printEnd(win: TextWindow, at: number): number {
  if (win.char(at + 5) !== '(') return at;
  const word = win.identifier(at + 6);
  return word !== '' && win.char(at + 6 + word.length) === ')' ? at + 7 + word.length : at;
}

/** Comments, imports and `x =` in a block of Python calls. */
function statementGlue(win: MatchContext['win'], at: number, char: string): number {
  if (char === ',' || char === ';') return at + 1;
  if (char === '#') return win.lineEnd(at);
  const word = win.identifier(at);
  if (word === 'import' || word === 'from') return win.lineEnd(at);
  if (word === 'print') return printEnd(win, at);
  const equals = win.skipBlank(at + word.length);
  return word !== '' && win.char(equals) === '=' && win.char(equals + 1) !== '=' ? equals + 1 : at;
}

const NEXT_ROLE = new WeakMap<TextWindow, { from: number; at: number }>();

/** Index of the next tag that has a role, or -1; remembered, so that many broken containers cost one pass. */
function nextRoleTag(win: TextWindow, start: number): number {
  const memo = NEXT_ROLE.get(win);
  if (memo && memo.from <= start && (memo.at === -1 || memo.at >= start)) return memo.at;
  let at = win.find('<', start);
  while (at !== -1) {
    const tag = readTag(win, at);
    const role = tag ? tagRole(tag.name) : 'none';
    if (tag && ((role !== 'none' && role !== 'separator') || tag.name === 'function')) break;
    at = win.find('<', at + 1);
  }
  NEXT_ROLE.set(win, { from: start, at });
  return at;
}

/** The next closer or opener of a container, else the next blank line, else the end of the text. */
function containerLimit({ win }: MatchContext, start: number): number {
  const at = nextRoleTag(win, start + 1);
  if (at !== -1) return at;
  win.isEnd(win.text.length);
  const bracket = win.find('[/TOOL', start);
  if (bracket !== -1) return bracket;
  const blank = win.find('\n\n', start);
  return blank === -1 ? win.text.length : blank;
}
