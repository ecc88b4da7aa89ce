/**
 * Owns calls that begin with the tool's name: GLM `name\n{…}`, `call:name{…}`, Mistral `name[ARGS]{…}`, Kimi
 * `functions.name:0<|…argument_begin|>{…}`, DeepSeek `function<｜tool▁sep｜>name …`, GLM-4.5 `name<arg_key>…`, Python
 * `name(a=1)`. Only reads: whether the surroundings allow a call is not known here.
 */
import { argumentRecord, lacksArguments } from '../reading/call-of-value.ts';
import { coerceText } from '../reading/coerce-text.ts';
import { isCallWord, readDamagedCloser } from '../reading/damaged-closer.ts';
import { readPythonCall } from '../reading/python-call.ts';
import { readTag, type Tag } from '../reading/tag.ts';
import { readValue } from '../reading/value-reader.ts';
import { tagRole } from '../tables/tag-roles.ts';
import { isRecord } from '../tool-catalog.ts';
import { readArgumentElements } from './element-call.ts';
import { isStopAt, type MatchContext, type UnitRead } from './match.ts';

const KIND_WORDS = new Set(['function', 'tool', 'call', 'call:']);
const GAP = /[:=|>]/;

export interface NamedOptions {
  /** A container stands around it: a name alone is a call without arguments. */
  readonly contained: boolean;
  readonly looseLimit?: number | undefined;
}

interface WrittenName {
  readonly name: string;
  readonly end: number;
}

export function readNamedCall(context: MatchContext, pos: number, options: NamedOptions): UnitRead {
  const name = readName(context, pos);
  if (!name) return null;
  const python = readPythonCall(
    { win: context.win, catalog: context.catalog, options: valueOptions(context, options) },
    name.end - name.name.length,
  );
  if (python) return python;
  return readAfterName(context, name, options);
}

/** The written name, behind `call:`, `function<sep>` and the like. */
function readName({ win, catalog }: MatchContext, pos: number): WrittenName | null {
  const word = win.identifier(pos);
  if (word === '') return null;
  if (word.startsWith('call:') && word.length > 5) return { name: word.slice(5), end: pos + word.length };
  if (!KIND_WORDS.has(word) || catalog.resolve(word)) return { name: word, end: pos + word.length };
  let at = win.skipBlank(pos + word.length);
  const tag = readTag(win, at);
  if (tag && tagRole(tag.name) === 'separator') at = win.skipSpace(tag.end);
  else if (word !== 'call:') return { name: word, end: pos + word.length };
  const name = win.identifier(at);
  return name === '' ? null : { name, end: at + name.length };
}

function readAfterName(context: MatchContext, { name, end }: WrittenName, options: NamedOptions): UnitRead {
  const { win } = context;
  const written = name.replace(/[:=./-]+$/, '');
  const at = skipSeparators(context, end);
  const char = win.char(at);
  if (char === '{') return readJsonArguments(context, { at, written, options });
  const tag = char === '<' ? readTag(win, at) : null;
  if ((tag?.name === 'arg_key' && !tag.closing) || (tag?.name === 'parameter' && !tag.closing))
    return readArgumentElements(context, at, written);
  const lost = readWithLostKey(context, { name: written, end: at }, tag);
  if (lost) return lost;
  const tool = context.catalog.resolve(written);
  if (!options.contained || !standsAlone(context, at, tag) || !tool) return null;
  if (win.isEnd(at) && lacksArguments({ written, tool, arguments: {} })) return { ok: false, truncated: true, written };
  return { ok: true, calls: [{ written, tool, arguments: {} }], end };
}

/** The container ends behind the name. */
function standsAlone({ win }: MatchContext, at: number, tag: Tag | null): boolean {
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
function skipSeparators({ win }: MatchContext, start: number): number {
  let at = win.skipSpace(start);
  for (let count = 0; count < 8; count += 1) {
    const next = separatorEnd(win, at);
    if (next === at) return at;
    at = win.skipSpace(next);
  }
  return at;
}

function separatorEnd(win: MatchContext['win'], at: number): number {
  const char = win.char(at);
  if (char === '<' || char === '[') {
    const tag = readTag(win, at);
    if (!tag || tag.closing || tagRole(tag.name) !== 'separator') return at;
    return tag.name === 'call_id' || tag.name === 'constrain'
      ? tag.end + win.identifier(win.skipBlank(tag.end)).length
      : tag.end;
  }
  if (char === '`' && win.startsWith('```', at)) return at + 3 + win.identifier(at + 3).length;
  return GAP.test(char) ? at + 1 : at;
}

interface JsonArguments {
  readonly at: number;
  readonly written: string;
  readonly options: NamedOptions;
}

function readJsonArguments(context: MatchContext, { at, written, options }: JsonArguments): UnitRead {
  const read = readValue(context.win, at, valueOptions(context, options));
  if (!read.ok) return { ok: false, truncated: read.truncated, written };
  const tool = context.catalog.resolve(written);
  const args = argumentRecord(read.value);
  if (!args) return { ok: false, truncated: false, written };
  if (read.bare) coerceBareTexts(args, tool?.properties ?? new Map());
  if (read.cut && lacksArguments({ written, tool, arguments: args })) return { ok: false, truncated: true, written };
  return { ok: true, calls: [{ written, tool, arguments: args }], end: read.end };
}

/** Unquoted text has no type; where the schema declares one, take it. */
function coerceBareTexts(args: Record<string, unknown>, properties: ReadonlyMap<string, unknown>): void {
  for (const [key, value] of Object.entries(args)) {
    if (typeof value === 'string' && isRecord(properties.get(key))) args[key] = coerceText(value, properties.get(key));
  }
}

function valueOptions({ win }: MatchContext, { looseLimit }: NamedOptions) {
  return { bare: true, looseLimit, isStop: (at: number) => isStopAt(win, at) };
}
