// Owns calls that begin with the tool's name: GLM `name\n{…}`, `call:name{…}`, Mistral `name[ARGS]{…}`, Kimi
// `functions.name:0<|…argument_begin|>{…}`, DeepSeek `function<｜tool▁sep｜>name …`, GLM-4.5 `name<arg_key>…`, Python `name(a=1)` and lists of it.
// Only reads: whether the surroundings allow a call is not known here.

import {
  argumentRecord,
  coerceText,
  type DeclaredTool,
  fitsTool,
  isRecord,
  type WrittenCall,
} from './call-of-value.ts';
import { readArgumentElements } from './elements.ts';
import { type BrokenUnit, broken, isStopAt, type MatchContext, type ReadUnit, type UnitRead, unitOf } from './prose.ts';
import { tagRole } from './tables.rules.ts';
import { endsOpen, readValue, setOwn, skipTrivia, type ValueOptions } from './value-reader.ts';
import { isCallWord, readDamagedCloser, readTag, type Tag, type TextWindow } from './window.ts';

const KIND_WORDS = new Set(['function', 'tool', 'call', 'call:']);

export interface NamedOptions {
  /** A container stands around it: a name alone is a call without arguments. */
  readonly contained: boolean;
  readonly looseLimit?: number | undefined;
}

interface WrittenName {
  readonly name: string;
  readonly end: number;
}

/** How values are read where calls are: leniently, up to what no value contains. */
export function valueOptions({ win }: MatchContext, looseLimit?: number): ValueOptions {
  return { bare: true, looseLimit, isStop: (at) => isStopAt(win, at) };
}

export function readNamedCall(context: MatchContext, pos: number, options: NamedOptions): UnitRead {
  const name = readName(context, pos);
  if (!name) return null;
  const values = valueOptions(context, options.looseLimit);
  return (
    readPythonCall(context, name.end - name.name.length, values) ??
    readAfterName(context, name, { values, contained: options.contained })
  );
}

/** The written name, behind `call:`, `function<sep>` and the like. */
function readName({ win, catalog }: MatchContext, pos: number): WrittenName | null {
  const word = win.identifier(pos);
  const end = pos + word.length;
  if (word === '') return null;
  if (word.startsWith('call:') && word.length > 5) return { name: word.slice(5), end };
  if (!KIND_WORDS.has(word) || catalog.resolve(word)) return { name: word, end };
  const tag = readTag(win, win.skipBlank(end));
  const isSeparated = tag !== null && tagRole(tag.name) === 'separator';
  if (!isSeparated && word !== 'call:') return { name: word, end };
  const at = isSeparated ? win.skipSpace(tag.end) : win.skipBlank(end);
  const name = win.identifier(at);
  return name === '' ? null : { name, end: at + name.length };
}

function readAfterName(
  context: MatchContext,
  { name, end }: WrittenName,
  { values, contained }: { readonly values: ValueOptions; readonly contained: boolean },
): UnitRead {
  const { win, catalog } = context;
  const written = name.replace(/[:=./-]+$/, '');
  const at = skipSeparators(win, end);
  const char = win.char(at);
  if (char === '{') return readJsonArguments(context, at, written, values);
  const tag = char === '<' ? readTag(win, at) : null;
  if (tag && !tag.closing && (tag.name === 'arg_key' || tag.name === 'parameter'))
    return readArgumentElements(context, at, written);
  const lost = readWithLostKey(context, { name: written, end: at }, tag);
  if (lost) return lost;
  const tool = catalog.resolve(written);
  if (!contained || !tool || !endsContainer(win, at, tag)) return null;
  return unitOf({ written, tool, arguments: {} }, end, win.isEnd(at));
}

/** The container ends behind the name. */
function endsContainer(win: TextWindow, at: number, tag: Tag | null): boolean {
  if (win.char(at) === '' || win.startsWith('```', at)) return true;
  if (tag !== null) return tagRole(tag.name).startsWith('call-') || (tag.closing && isCallWord(tag.name));
  return isCallWord(readDamagedCloser(win, at)?.word ?? '');
}

/** GLM without the opener of the first key: `namekey</arg_key>`, `name\nkey</arg_key>`, `name<tool_call>key</arg_key>`. */
function readWithLostKey(context: MatchContext, { name, end }: WrittenName, tag: Tag | null): UnitRead {
  const { win, catalog } = context;
  const joined = isKeyMark(tag) ? catalog.split(name) : null;
  if (joined) return readArgumentElements(context, end - joined.key.length, joined.name);
  if (!catalog.resolve(name)) return null;
  const at = win.skipSpace(tag && !tag.closing && tagRole(tag.name) === 'call-open' ? tag.end : end);
  const key = win.identifier(at);
  return key !== '' && isKeyMark(readTag(win, at + key.length)) ? readArgumentElements(context, at, name) : null;
}

/** What stands behind a key: its closer, or the value's opener. */
function isKeyMark(tag: Tag | null): boolean {
  return (tag?.name === 'arg_key' && tag.closing) || (tag?.name === 'arg_value' && !tag.closing);
}

/** Skips what may stand between name and arguments: separators, a fence line, `json`, `:`. */
function skipSeparators(win: TextWindow, start: number): number {
  let at = win.skipSpace(start);
  for (let count = 0; count < 8; count += 1) {
    const next = separatorEnd(win, at);
    if (next === at) return at;
    at = win.skipSpace(next);
  }
  return at;
}

function separatorEnd(win: TextWindow, at: number): number {
  const char = win.char(at);
  if (/[:=|>]/.test(char)) return at + 1;
  if (char === '`') return fenceLineEnd(win, at);
  const tag = readTag(win, at);
  if (!tag || tag.closing || tagRole(tag.name) !== 'separator') return at;
  const hasWord = tag.name === 'call_id' || tag.name === 'constrain';
  return hasWord ? tag.end + win.identifier(win.skipBlank(tag.end)).length : tag.end;
}

/** Behind the fence and its language, if one begins at `at`. */
export function fenceLineEnd(win: TextWindow, at: number): number {
  return win.startsWith('```', at) ? at + 3 + win.identifier(at + 3).length : at;
}

function readJsonArguments(context: MatchContext, at: number, written: string, values: ValueOptions): UnitRead {
  const read = readValue(context.win, at, values);
  if (!read.ok) return broken(read.truncated, written);
  const tool = context.catalog.resolve(written);
  const args = argumentRecord(read.value);
  if (!args) return broken(false, written);
  // Unquoted text has no type; where the schema declares one, take it.
  for (const [key, value] of read.bare ? Object.entries(args) : []) {
    const schema = tool?.properties.get(key);
    if (typeof value === 'string' && isRecord(schema)) args[key] = coerceText(value, schema);
  }
  return unitOf({ written, tool, arguments: args }, read.end, read.cut);
}

interface Argument {
  readonly key: string | null;
  readonly value: unknown;
  readonly bare: boolean;
}

type Step<T> = { readonly ok: true; readonly value: T; readonly end: number } | BrokenUnit;

/** Wrappers that models put around the call itself. */
export const WRAPPERS: ReadonlySet<string> = new Set(['print', 'await']);

/** One call at `pos`; null when no `name(` stands there. */
export function readPythonCall(context: MatchContext, pos: number, values: ValueOptions = {}, wrappers = 0): UnitRead {
  const { win, catalog } = context;
  // A declared name may be no identifier (`Market Trends API`).
  const written = catalog.oddNames.find((name) => win.startsWith(name, pos)) ?? win.identifier(pos);
  const open = win.skipBlank(pos + written.length);
  if (written === '' || win.char(open) !== '(') return null;
  if (WRAPPERS.has(written)) {
    const inner = wrappers > 1 ? null : readPythonCall(context, win.skipSpace(open + 1), values, wrappers + 1);
    return inner?.ok ? unwrapped(win, inner) : inner;
  }
  const tool = catalog.resolve(written);
  const list = readArguments(win, open + 1, values);
  if (!list.ok) return broken(list.truncated, written);
  const args = bindArguments(list.value, tool);
  if (!args) return broken(false, written);
  const cut = win.isEnd(list.end) && win.char(list.end - 1) !== ')';
  return unitOf({ written, tool, arguments: args }, list.end, cut);
}

function unwrapped(win: TextWindow, inner: ReadUnit): UnitRead {
  const close = win.skipSpace(inner.end);
  return win.char(close) === ')' ? { ...inner, end: close + 1 } : broken(win.isEnd(close));
}

/** `[f(…), g(…)]` at `pos`; null when no list of calls begins there. A missing `]` at the end is forgiven. */
export function readPythonList(context: MatchContext, pos: number, values: ValueOptions = {}): UnitRead {
  const { win } = context;
  if (win.char(pos) !== '[') return null;
  const calls: WrittenCall[] = [];
  let next = win.skipSpace(pos + 1);
  for (let at = -1; at !== next; ) {
    const read = readPythonCall(context, next, values) ?? (calls.length > 0 ? broken(win.isEnd(next)) : null);
    if (!read?.ok) return read;
    calls.push(...read.calls);
    at = win.skipSpace(read.end);
    next = /[,;]/.test(win.char(at)) ? win.skipSpace(at + 1) : at;
    if (win.char(next) === ']') return { ok: true, calls, end: next + 1 };
  }
  return isOver(win, next, values) ? { ok: true, calls, end: next } : broken(false);
}

/** The end of the text, or a stop. */
function isOver(win: TextWindow, at: number, values: ValueOptions): boolean {
  return win.isEnd(at) || values.isStop?.(at) === true;
}

/** Arguments up to `)`; in its place may stand the end of the text, a stop, or the `]` of the list around the call. */
function readArguments(win: TextWindow, start: number, values: ValueOptions): Step<Argument[]> {
  const list: Argument[] = [];
  let at = skipTrivia(win, start);
  while (win.char(at) !== ')') {
    if (isOver(win, at, values)) return withoutCloser(win, list, at);
    const argument = readArgument(win, at, values);
    if (!argument.ok) return argument;
    list.push(argument.value);
    at = skipTrivia(win, argument.end);
    if (win.char(at) === ']') return { ok: true, value: list, end: at };
    if (!/^[,)]?$/.test(win.char(at)) && !isOver(win, at, values)) return broken(false);
    if (win.char(at) === ',') at = skipTrivia(win, at + 1);
  }
  return { ok: true, value: list, end: at + 1 };
}

/** Only the closer is missing; but `f(` alone was cut off before its arguments. */
function withoutCloser(win: TextWindow, list: Argument[], end: number): Step<Argument[]> {
  const isCut = list.length === 0 || (win.isEnd(end) && endsOpen(win));
  return isCut ? broken(true) : { ok: true, value: list, end };
}

function readArgument(win: TextWindow, pos: number, values: ValueOptions): Step<Argument> {
  const stars = win.startsWith('**', pos) ? 2 : 0;
  const key = stars > 0 ? null : readKey(win, pos);
  const bare = key !== null && values.bare === true;
  const read = readValue(win, key ? key.end : pos + stars, { ...values, python: true, adjacent: true, bare });
  if (!read.ok) return broken(read.truncated);
  return { ok: true, value: { key: key?.name ?? null, value: read.value, bare: read.bare }, end: read.end };
}

function readKey(win: TextWindow, pos: number): WrittenName | null {
  const name = win.identifier(pos).split(':', 1)[0] ?? '';
  if (!/^[\p{L}_$][\p{L}\p{N}_$\-.]*$/u.test(name)) return null;
  const at = win.skipSpace(pos + name.length);
  return /[=:]/.test(win.char(at)) && win.char(at + 1) !== '=' ? { name, end: at + 1 } : null;
}

/** Positional arguments take the declared properties in order; `**{…}`, or a lone object of declared properties, is the arguments. */
function bindArguments(list: readonly Argument[], tool: DeclaredTool | null): Record<string, unknown> | null {
  const result: Record<string, unknown> = {};
  const order = tool?.properties.keys();
  for (const { key, value, bare } of list) {
    if (key === null && isRecord(value) && isArgumentObject(value, list, tool)) {
      for (const [name, inner] of Object.entries(value)) setOwn(result, name, inner);
      continue;
    }
    const name = key ?? order?.next().value;
    if (name === undefined) return null;
    setOwn(result, name, bare ? coerceText(String(value), tool?.properties.get(name)) : value);
  }
  return result;
}

function isArgumentObject(
  value: Record<string, unknown>,
  list: readonly Argument[],
  tool: DeclaredTool | null,
): boolean {
  if (tool === null) return list.length === 1;
  return Object.keys(value).length > 0 && fitsTool(value, tool);
}
