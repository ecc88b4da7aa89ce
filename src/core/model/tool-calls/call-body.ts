// Owns the inside of a call container: any number of calls in any notation, with glue between them (separators, inner
// tags, fences, stray closers). Every container takes every notation, so a wrong special token costs nothing. Tells
// calls, malformed attempts and text that is no call apart; each character is read a bounded number of times.

import { callsOfValue, type Found, lacksArguments, type WrittenCall } from './call-of-value.ts';
import { elementName, readElementUnit } from './elements.ts';
import { fenceLineEnd, readNamedCall, readPythonList, valueOptions } from './named-call.ts';
import {
  attempt,
  broken,
  foundOf,
  isCallCloser,
  type MatchContext,
  type ReadUnit,
  type UnitRead,
  writtenName,
} from './prose.ts';
import { ARGUMENT_KEYS, FIRST_KEYS, tagRole } from './tables.rules.ts';
import { readValue } from './value-reader.ts';
import { isCallWord, readDamagedCloser, readTag, resembles, type Tag, TextWindow } from './window.ts';

export interface BodyOptions {
  /** No container vouches for the body: declared names and call keys only. */
  readonly strict?: boolean;
  /** The body ends at a fence; Python statements around calls are glue. */
  readonly fenced?: boolean;
}

export interface BodyRead {
  readonly found: readonly Found[];
  readonly end: number;
  /** Other text follows; else a closing tag, the fence or the end of the text. */
  readonly open: boolean;
}

/** Every one is a call, and there is one. */
export function isAllCalls(found: readonly Found[]): boolean {
  return found.length > 0 && found.every(({ kind }) => kind === 'call');
}

/** Reads calls from `pos` to the container's end. `found` is empty where nothing looks like a call. */
export function readCallBody(
  context: MatchContext,
  pos: number,
  { strict = false, fenced = false }: BodyOptions = {},
): BodyRead {
  const found: Found[] = [];
  let end = pos;
  for (;;) {
    const glue = skipGlue(context.win, end, { hasCalls: found.length > 0, fenced });
    if (glue.closed) return { found, end: glue.end, open: false };
    const { unit, start } = nextUnit(context, glue.end, { strict, first: found.length === 0 });
    if (!unit) return { found, end: found.length > 0 ? end : glue.end, open: true };
    end = addUnit(context, start, unit, { found, strict });
    if (!unit.ok && found.at(-1)?.kind === 'malformed') return { found, end, open: false };
  }
}

/** The unit at `pos`, or the first one behind words that introduce it. */
function nextUnit(
  context: MatchContext,
  pos: number,
  { strict, first }: { readonly strict: boolean; readonly first: boolean },
): { readonly unit: UnitRead; readonly start: number } {
  const unit = readUnit(context, pos, { strict });
  const start = unit || strict || !first ? -1 : chatterEnd(context.win, pos);
  return start === -1 ? { unit, start: pos } : { unit: readUnit(context, start, { strict }), start };
}

const MAX_CHATTER = 200;

/** Index of the call object that words introduce inside a container, on the next line; -1 when there is none. */
function chatterEnd(win: TextWindow, start: number): number {
  for (let at = start; at < start + MAX_CHATTER; at += 1) {
    const char = win.char(at);
    if (char === '' || /[<{[]/.test(char)) return -1;
    if (char !== '\n') continue;
    const open = win.skipSpace(at);
    if (win.char(open) === '{' && FIRST_KEYS.has(keyBehind(win, open))) return open;
  }
  return -1;
}

/** The quoted key behind the brace at `open`. */
function keyBehind(win: TextWindow, open: number): string {
  return win.identifier(win.skipSpace(open + 1) + 1);
}

interface UnitMode {
  readonly strict: boolean;
  /** Switches loose quotation marks on. */
  readonly looseLimit?: number;
}

/** Adds what one unit gave; a broken one is read again up to the container's end, loosely and without its escapes. */
function addUnit(
  context: MatchContext,
  start: number,
  unit: NonNullable<UnitRead>,
  { found, strict }: { readonly found: Found[]; readonly strict: boolean },
): number {
  const { win } = context;
  const add = (calls: readonly WrittenCall[], end: number): number => {
    found.push(...calls.map((call) => foundOf(call, win.slice(start, end))));
    return end;
  };
  if (unit.ok && !isSplit(win, unit)) return add(unit.calls, unit.end);
  const limit = containerLimit(win, start);
  const loose = unit.ok ? null : readUnit(context, start, { strict, looseLimit: limit });
  if (loose?.ok && loose.end <= limit) return add(loose.calls, loose.end);
  const cut = !unit.ok && unit.truncated && limit >= win.text.length;
  const mended = readMended(context, win.slice(start, limit), { strict, cut });
  if (mended) return add(mended, limit);
  if (unit.ok) return add(unit.calls, unit.end);
  const raw = win.slice(start, limit).trimEnd();
  found.push(attempt(cut, unit.written ?? writtenName(raw), raw));
  const tag = win.isEnd(limit) ? null : readTag(win, limit);
  return tag && isCloser(tag) ? tag.end : limit;
}

/** `{"name": …} {"arguments": …}`: the arguments stand in an object of their own. */
function isSplit(win: TextWindow, unit: ReadUnit): boolean {
  if (!unit.calls.some(lacksArguments)) return false;
  const at = win.skipSpace(unit.end);
  const open = win.char(at) === ',' ? win.skipSpace(at + 1) : at;
  return win.char(open) === '{' && ARGUMENT_KEYS.includes(keyBehind(win, open));
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

/** One call, or list of calls, in any notation. */
function readUnit(context: MatchContext, pos: number, mode: UnitMode): UnitRead {
  const { win } = context;
  const char = win.char(pos);
  if (char === '{' || char === '[') return readValueUnit(context, pos, mode);
  if (char === '"' && win.char(pos + 1) === '{') {
    // A whole call as a JSON string.
    const unit = readValueUnit(context, pos, mode);
    return unit?.ok ? unit : null;
  }
  if (!mode.strict && beginsWithKey(win, pos)) return broken(false);
  if (char === '<') return readElementUnit(context, pos);
  return readNamedCall(context, pos, { contained: !mode.strict, looseLimit: mode.looseLimit });
}

const OUTER_KEYS = new Set(['name', 'tool_name', 'function', 'arguments']);

/** A key word of a call object, its colon behind it, and no brace before it; or `function=name>` without its `<`. */
function beginsWithKey(win: TextWindow, pos: number): boolean {
  const quote = win.char(pos) === '"' ? 1 : 0;
  const word = win.identifier(pos + quote).replace(/:$/, '');
  if (!OUTER_KEYS.has(word)) return false;
  const end = pos + quote + word.length;
  if (quote === 0) return win.char(end) === ':' || (word === 'function' && win.char(end) === '=');
  return win.char(end) === '"' && win.char(win.skipBlank(end + 1)) === ':';
}

function readValueUnit(context: MatchContext, pos: number, { strict, looseLimit }: UnitMode): UnitRead {
  const { win, catalog } = context;
  const options = { ...valueOptions(context, looseLimit), python: true };
  const list = readPythonList(context, pos, options);
  if (list) return list;
  // `{{…}}`: the braces of a template that was copied.
  let start = pos;
  while (win.startsWith('{{', start)) start += 1;
  const read = readValue(win, start, options);
  if (!read.ok) return broken(read.truncated);
  // An empty list says that no call is needed.
  const none = Array.isArray(read.value) && read.value.length === 0;
  const calls = none ? [] : callsOfValue(read.value, { catalog, strict });
  if (!calls || (read.cut && calls.some(lacksArguments))) return broken(calls !== null);
  return { ok: true, calls, end: read.end };
}

interface Glue {
  readonly end: number;
  readonly closed: boolean;
}

interface GlueMode {
  readonly hasCalls: boolean;
  readonly fenced: boolean;
}

function skipGlue(win: TextWindow, start: number, mode: GlueMode): Glue {
  let at = win.skipSpace(start);
  for (;;) {
    const glue = oneGlue(win, at, mode);
    if (glue.closed || glue.end === at) return glue;
    at = win.skipSpace(glue.end);
  }
}

function oneGlue(win: TextWindow, at: number, mode: GlueMode): Glue {
  if (win.isEnd(at)) return { end: at, closed: true };
  if (mode.fenced && win.startsWith('```', at)) return { end: win.runEnd(at), closed: true };
  const char = win.char(at);
  const token = char === '<' || char === '[' ? tagGlue(win, at, mode) : null;
  return token ?? { end: (mode.fenced ? statementGlue : plainGlue)(win, at, mode.hasCalls), closed: false };
}

function tagGlue(win: TextWindow, at: number, { hasCalls, fenced }: GlueMode): Glue | null {
  const tag = readTag(win, at);
  const role = tagRole(tag?.name ?? '');
  if (!tag || (tag.closing && role === 'none' && tag.name !== 'function')) return strayGlue(win, at);
  if (elementName(tag) !== '') return null;
  if (fenced && role.startsWith('call-')) return { end: tag.end, closed: false };
  if (isCloser(tag)) return { end: tag.end, closed: true };
  if (role === 'separator' || (role === 'call-open' && !hasCalls)) return { end: tag.end, closed: false };
  // The next container, a result or a new turn is for the caller to see.
  return role === 'none' ? null : { end: at, closed: true };
}

/** A damaged closer of a container ends it; one of something inside a call is passed. */
function strayGlue(win: TextWindow, at: number): Glue | null {
  const closer = readDamagedCloser(win, at);
  if (!closer || !isCallWord(closer.word)) return null;
  const containers = ['tool_call', 'tool_calls', 'function_call'];
  return { end: closer.end, closed: containers.some((name) => resembles(closer.word, name)) };
}

function isCloser(tag: Tag): boolean {
  return isCallCloser(tag) || (tag.closing && tag.name === 'function');
}

function plainGlue(win: TextWindow, at: number, hasCalls: boolean): number {
  const char = win.char(at);
  if (char === '`') return Math.max(at + 1, fenceLineEnd(win, at));
  if (char === ',' || char === ';') return at + 1;
  if (hasCalls && /[}\])]/.test(char)) return at + 1;
  const word = /[fj]/.test(char) ? win.identifier(at) : '';
  if (word === 'json' && !hasCalls) return at + 4;
  // DeepSeek's `function<sep>` where a call element follows.
  const tag = word === 'function' ? readTag(win, at + 8) : null;
  return tag && tagRole(tag.name) === 'separator' && win.char(win.skipSpace(tag.end)) === '<' ? tag.end : at;
}

/** Comments, imports, `x =` and `print(x)` in a block of Python calls. */
function statementGlue(win: TextWindow, at: number): number {
  const char = win.char(at);
  if (char === ',' || char === ';') return at + 1;
  const word = win.identifier(at);
  const end = at + word.length;
  if (char === '#' || word === 'import' || word === 'from') return win.lineEnd(at);
  if (word === 'print') {
    const printed = win.char(end) === '(' ? win.identifier(end + 1) : '';
    const close = end + 1 + printed.length;
    return printed !== '' && win.char(close) === ')' ? close + 1 : at;
  }
  const equals = win.skipBlank(end);
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
    if (tag && (tag.name === 'function' || !['none', 'separator'].includes(tagRole(tag.name)))) break;
    at = win.find('<', at + 1);
  }
  NEXT_ROLE.set(win, { from: start, at });
  return at;
}

/** The next closer or opener of a container, else the next blank line, else the end of the text. */
function containerLimit(win: TextWindow, start: number): number {
  const at = nextRoleTag(win, start + 1);
  if (at !== -1) return at;
  win.isEnd(win.text.length);
  const bracket = win.find('[/TOOL', start);
  const limit = bracket === -1 ? win.find('\n\n', start) : bracket;
  return limit === -1 ? win.text.length : limit;
}

// Undoing an escape that a model put over a whole call: HTML entities (`{&quot;name&quot;: …}`) or backslashes (`{\"name\": …}`, the inside of
// a JSON string without its quotation marks). Text that begins otherwise is left alone, since in an argument such characters mean themselves.

const HTML = /^[[{\s]*(?:&quot;|&#34;|&apos;|&#39;)/;
const SLASHED = /^"?(?:\\[nrt]|[[{\s])*\\"/;
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ '&quot;': '"', '&#34;': '"', '&apos;': "'", '&#39;': "'" },
  ...{ '&lt;': '<', '&gt;': '>', '&amp;': '&' },
};
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', '/': '/' };

/** The text without its escapes, or null when none lies over it. */
function decodedBody(text: string): string | null {
  if (HTML.test(text)) return text.replace(/&(?:[a-z]+|#\d+);/g, (entity) => ENTITIES[entity] ?? entity);
  if (!SLASHED.test(text)) return null;
  return text.replace(/^"/, '').replace(/\\([nrt"\\/])/g, (whole, letter: string) => ESCAPES[letter] ?? whole);
}

// Mending the text of one call that no reading understood: lost quotation marks, colons, outer braces, wrong brackets, full-width punctuation. A
// list of small rewrites; the caller reads the outcome again and takes it only if nothing is left over, so a wrong guess costs nothing.

type Rewrite = readonly [RegExp, string];

const REWRITES: readonly Rewrite[] = [
  // function=terminal> and parameter=command> without their first character
  [/(^|\n)[ \t]*((?:function=|parameter=|invoke name=|parameter name=)"?[\w.:-]+"?)>/g, '$1<$2>'],
  // {"name": "terminal"} {"arguments": {…}}
  [/\}\s*,?\s*\{\s*"(arguments|parameters|args)"/, ', "$1"'],
  // "name"： "x"， "arguments"：
  [/"\s*：\s*/g, '": '],
  [/(["}\]\d])\s*，\s*"/g, '$1, "'],
  // "command"; "ls"
  [/([{,]\s*"\w+")\s*;\s*(?=["{[\d])/g, '$1: '],
  // {name": …, arguments": …
  [/([{,]\s*)(\w+)"\s*:/g, '$1"$2":'],
  // {"command: "ls"
  [/([{,]\s*)"(\w+):\s*(?=["{[\d])/g, '$1"$2": '],
  // "name": "terminal, "arguments":
  [/(:\s*"[\w.:-]+),\s*(?="\w+"\s*:)/g, '$1", '],
  // "arguments": "command": "ls"
  [/("(?:arguments|parameters|args)"\s*:\s*)(?="\w+"\s*:)/g, '$1{'],
  // Gemma's text without its first token, without its last one
  [/([{,]\s*\w+:)([^<{}[\]:]+)(<\|"\|>\s*[,}\]])/g, '$1<|"|>$2$3'],
  [/(:\s*<\|"\|>[^<{}[\]]*?)(?=,\s*\w+:\s*(?:[-\d[{]|true|false|null)|\s*[}\])][\s}\])]*$)/g, '$1<|"|>'],
  // "command": "ls"]}
  [/(["\w}])\s*[)\]]\s*\}\s*$/, '$1}}'],
  // "command": "ls}}
  [/(:\s*"[^"]*[^"}\s])(\s*\}{1,3}\s*)$/, '$1"$2'],
];
const OUTER = /^\s*(?:"(?:name|tool_name|function|arguments)"|(?:name|tool_name|function))\s*:/;
const LISTED = /^\s*\[\s*("(?:name|arguments)"\s*:[\s\S]*)\]\s*$/;

/** The text with every rewrite that applies, or null when none does. */
function repairedBody(text: string): string | null {
  let mended = text;
  if (OUTER.test(mended)) mended = `{${mended}}`;
  const listed = LISTED.exec(mended)?.[1];
  if (listed !== undefined) mended = `{${listed}}`;
  for (const [pattern, replacement] of REWRITES) mended = mended.replace(pattern, replacement);
  return mended === text ? null : mended;
}
