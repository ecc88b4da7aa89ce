// Owns calls written as elements: `<function=name><parameter=key>…`, `<invoke name="…"><parameter name="…">…`, DSML, GLM
// `<arg_key>/<arg_value>`, `<tool><param>…`, an element named after the tool. Values are text, typed by the tool's schema; a value may hold such
// markup itself, so closers are matched with openers, and a missing, damaged or cut one is forgiven where the next argument or the call's end proves it.

import { argumentRecord, coerceText, type DeclaredTool, valueOfText } from './call-of-value.ts';
import { broken, isCallCloser, isStopAt, type MatchContext, type UnitRead, unitOf } from './prose.ts';
import {
  CALL_ELEMENTS,
  KEY_ATTRIBUTES,
  NAME_ATTRIBUTES,
  NAME_ELEMENTS,
  PARAMETER_ELEMENTS,
  tagRole,
  VALUE_ELEMENTS,
  WRAPPER_ELEMENTS,
} from './tables.rules.ts';
import { readValue, setOwn } from './value-reader.ts';
import {
  attribute,
  type DamagedCloser,
  isCallWord,
  isSpaceCode,
  readDamagedCloser,
  readTag,
  resembles,
  type Tag,
  type TextWindow,
} from './window.ts';

/** The tool name that an opening tag carries, or ''. */
export function elementName(tag: Tag): string {
  if (tag.closing || !CALL_ELEMENTS.has(tag.name)) return '';
  return tag.value || attribute(tag, NAME_ATTRIBUTES);
}

/** The call that the element at `pos` is: named by its tag, by its first child (`<name>get_weather</name>`), or after a declared tool. */
export function readElementUnit(context: MatchContext, pos: number): UnitRead {
  const { win, catalog } = context;
  const tag = readTag(win, pos);
  if (!tag || tag.closing) return null;
  const named = elementName(tag) || (catalog.resolve(tag.name) && !tag.special ? tag.name : '');
  if (named !== '') return readElementCall(context, tag, named);
  if (!NAME_ELEMENTS.has(tag.name)) return null;
  const start = win.skipSpace(tag.end);
  const written = win.identifier(start);
  const at = win.skipSpace(start + written.length);
  const close = written === '' ? null : readTag(win, at);
  if (!close) return null;
  const from = close.closing && close.name === tag.name ? close.end : at;
  return new ElementArguments(context, written, tag.closer).read(from);
}

/** A call whose opening tag has been read; `written` is the name in it. */
export function readElementCall(context: MatchContext, tag: Tag, written: string): UnitRead {
  return new ElementArguments(context, written, tag.closer).read(tag.end);
}

/** `name` has been read; `<arg_key>` or `<parameter…>` stands at `pos`. */
export function readArgumentElements(context: MatchContext, pos: number, written: string): UnitRead {
  return new ElementArguments(context, written, '').read(pos);
}

type Step = 'next' | 'done' | 'truncated' | 'fail';

const MAX_KEY = 120;

class ElementArguments {
  readonly #win: TextWindow;
  readonly #written: string;
  readonly #tool: DeclaredTool | null;
  readonly #closer: string;
  readonly #result: Record<string, unknown> = {};
  #pos = 0;
  #closed = false;

  constructor({ win, catalog }: MatchContext, written: string, closer: string) {
    this.#win = win;
    this.#written = written;
    this.#tool = catalog.resolve(written);
    this.#closer = closer;
  }

  read(start: number): UnitRead {
    this.#pos = start;
    let step: Step = 'next';
    while (step === 'next') step = this.#step();
    if (step === 'done' && !this.#isUnread())
      return unitOf({ written: this.#written, tool: this.#tool, arguments: this.#result }, this.#pos);
    return broken(step === 'truncated' || this.#win.isEnd(this.#win.skipSpace(this.#pos)), this.#written);
  }

  /**
   * A required argument is missing, and the text was cut off, or nothing was read and something stands where arguments
   * should: better no call than half a one.
   */
  #isUnread(): boolean {
    if (this.#closed || !this.#tool?.required.some((key) => !Object.hasOwn(this.#result, key))) return false;
    const at = this.#win.skipSpace(this.#pos);
    const char = this.#win.char(at);
    if (char === '') return true;
    if (char === '`' || Object.keys(this.#result).length > 0) return false;
    return char !== '<' || !(isStopAt(this.#win, at) || readTag(this.#win, at)?.name === 'function');
  }

  #step(): Step {
    const at = this.#win.skipSpace(this.#pos);
    const char = this.#win.char(at);
    if (char === '') return 'done';
    if (char === '{') return this.#json(at);
    if (char !== '<') return beginsBareKey(this.#win, at) ? this.#pair(at) : 'done';
    if (this.#closer !== '' && this.#win.startsWith(this.#closer, at)) return this.#close(at + this.#closer.length);
    const tag = readTag(this.#win, at);
    const closer = tag && !tag.closing ? null : readDamagedCloser(this.#win, at);
    if (closer) return this.#damaged(closer);
    if (tag) return this.#tag(tag);
    return this.#win.find('>', at) === -1 ? 'truncated' : 'done';
  }

  #skip(end: number): Step {
    this.#pos = end;
    return 'next';
  }

  #close(end: number): Step {
    this.#pos = end;
    this.#closed = true;
    return 'done';
  }

  /** A closing tag in any spelling: of an argument it is skipped, of this call it ends it, any other one is not ours. */
  #damaged({ word, end }: DamagedCloser): Step {
    if (/param|arg|inputs?$/.test(word) || this.#tool?.properties.has(word)) return this.#skip(end);
    return this.#closer !== '' && resembles(word, this.#closer) ? this.#close(end) : 'done';
  }

  #json(at: number): Step {
    const read = readValue(this.#win, at, { bare: true, isStop: (stop) => isStopAt(this.#win, stop) });
    if (!read.ok) return read.truncated ? 'truncated' : 'fail';
    for (const [key, value] of Object.entries(argumentRecord(read.value) ?? {})) setOwn(this.#result, key, value);
    return this.#skip(read.end);
  }

  #tag(tag: Tag): Step {
    if (tag.name === 'arg_key') return tag.closing ? this.#skip(tag.end) : this.#pair(tag.end);
    const key = this.#keyOf(tag);
    if (key !== '') return this.#value(tag, key);
    const closesArgument =
      tag.closing && (isArgumentElement(tag.name) || this.#tool?.properties.has(tag.name) === true);
    return closesArgument || WRAPPER_ELEMENTS.has(tag.name) ? this.#skip(tag.end) : 'done';
  }

  /** `<parameter=key>`, `<parameter name="key">`, `<parameter key>`, `<key>`. */
  #keyOf(tag: Tag): string {
    if (tag.closing) return '';
    const properties = this.#tool?.properties;
    if (PARAMETER_ELEMENTS.has(tag.name)) {
      const named = tag.value || attribute(tag, KEY_ATTRIBUTES);
      if (named !== '') return named;
      if (properties?.has(tag.attributes)) return tag.attributes;
    }
    if (tag.special || tagRole(tag.name) === 'call-open') return '';
    return [...(properties?.keys() ?? [])].find((key) => key.toLowerCase() === tag.name) ?? '';
  }

  #value(tag: Tag, key: string): Step {
    const { name, closer } = tag;
    const isNextKey = (next: string): boolean => this.#isNextKey(next);
    const span = valueSpan(this.#win, { start: tag.end, name, closer, key, isNextKey });
    if (!span) return 'truncated';
    const said = attribute(tag, ['string']);
    const layout = said !== '' ? 'exact' : tag.value === '' ? 'pair' : 'block';
    const raw = this.#win.slice(tag.end, span.end);
    // Without a closer, the line break before the next tag is layout.
    const isBlock = /^\r?\n/.test(raw);
    const text = unwrapText(span.next === span.end && !isBlock ? raw.replace(/\r?\n$/, '') : raw, layout);
    const typed = said === 'true' ? text : said === 'false' ? (valueOfText(text) ?? text) : this.#typed(key, text);
    setOwn(this.#result, key, typed);
    return this.#skip(span.next);
  }

  #typed(key: string, text: string): unknown {
    return coerceText(text, this.#tool?.properties.get(key));
  }

  #isNextKey(key: string): boolean {
    return this.#tool?.properties.has(key) === true && !Object.hasOwn(this.#result, key);
  }

  /** `<arg_key>key</arg_key><arg_value>value</arg_value>`, behind the first opener; each mark but one may be missing. */
  #pair(start: number): Step {
    const keyEnd = this.#win.find('<', start);
    if (keyEnd === -1) return 'truncated';
    const key = this.#win.slice(start, keyEnd).trim();
    const closed = this.#behind(keyEnd, 'arg_key', true);
    const opened = this.#behind(closed, 'arg_value', false);
    if (opened === keyEnd || key === '' || key.length > MAX_KEY) return 'fail';
    const isNextKey = (next: string): boolean => next !== key && this.#isNextKey(next);
    const job = { start: opened, name: 'arg_value', closer: '</arg_value>', key: '', isNextKey };
    const span = valueSpan(this.#win, job);
    if (!span) return 'truncated';
    let text = this.#win.slice(opened, span.end);
    // Where a mark is missing, the line break in its place is what remains of the layout.
    if (opened === closed) text = text.replace(/^\r?\n/, '');
    if (span.next === span.end) text = text.replace(/\r?\n$/, '');
    setOwn(this.#result, key, this.#typed(key, unwrapText(text, 'pair')));
    return this.#skip(span.next);
  }

  /** Behind this tag where it stands, else where it was looked for. */
  #behind(at: number, name: string, closing: boolean): number {
    const tag = readTag(this.#win, this.#win.skipSpace(at));
    return tag?.name === name && tag.closing === closing ? tag.end : at;
  }
}

/** `timeout</arg_key>`: the opener of the key was lost. */
function beginsBareKey(win: TextWindow, at: number): boolean {
  const key = win.identifier(at);
  return key !== '' && VALUE_ELEMENTS.has(readTag(win, at + key.length)?.name ?? '');
}

/**
 * Line breaks that belong to the layout, not to the value: none in an `exact` one, one on either side of a `block` that
 * begins with one, one on both sides of a `pair`, whose template has none.
 */
function unwrapText(raw: string, layout: 'exact' | 'block' | 'pair'): string {
  const isLaidOut = layout !== 'exact' && /^\r?\n/.test(raw) && (layout === 'block' || raw.endsWith('\n'));
  const text = isLaidOut ? raw.replace(/^\r?\n/, '').replace(/\r?\n$/, '') : raw;
  return /^\s*<!\[CDATA\[([\s\S]*)\]\]>\s*$/.exec(text)?.[1] ?? text;
}

// Where the value of an element (`<parameter=…>`, `<arg_value>`) ends.

interface ValueJob {
  readonly start: number;
  /** Name of the element, and how its closer is spelled. */
  readonly name: string;
  readonly closer: string;
  /** The argument, letters only, where a model may close it by that. */
  readonly key: string;
  /** True for a key that this call may still be given. */
  readonly isNextKey: (key: string) => boolean;
}

interface ValueSpan {
  readonly end: number;
  /** Where reading goes on: behind the closer. */
  readonly next: number;
}

/** Openers and closers without an end cost one pass a text: remembered from where none was found. */
const NO_END = new WeakMap<TextWindow, Map<string, number>>();

/** The span of the value that begins at `job.start`, or null when it was cut off. */
function valueSpan(win: TextWindow, job: ValueJob): ValueSpan | null {
  const known = NO_END.get(win) ?? new Map<string, number>();
  NO_END.set(win, known);
  if (job.start >= (known.get(job.closer) ?? Number.POSITIVE_INFINITY)) {
    win.isEnd(win.text.length);
    return null;
  }
  const span = new ValueScan(win, job).run();
  if (!span) known.set(job.closer, job.start);
  return span;
}

class ValueScan {
  readonly #win: TextWindow;
  readonly #job: ValueJob;
  /** Elements of the same name, and calls, that were opened inside the value. */
  #depth = 0;
  #calls = 0;
  /** Ends that count if no better one comes: closers of its own (odd text behind, inside something), of the call. */
  #firstOwn: ValueSpan | null = null;
  #lastOwn: ValueSpan | null = null;
  #callEnd: (ValueSpan & { readonly behind: number }) | null = null;

  constructor(win: TextWindow, job: ValueJob) {
    this.#win = win;
    this.#job = job;
  }

  run(): ValueSpan | null {
    const win = this.#win;
    for (let at = win.find('<', this.#job.start); at !== -1; at = win.find('<', at + 1)) {
      const span = this.#mark(at);
      if (span) return span;
    }
    // At the end of the text: a closer in the midst of a line of code is no proof that the value was complete.
    const [first, own, call] = [this.#firstOwn, this.#lastOwn, this.#callEnd];
    if (first && isSpaceCode(win.code(first.next))) return first;
    if (own && this.#onlyClosers(own.next)) return own;
    return call && this.#onlyClosers(call.behind) ? call : null;
  }

  #onlyClosers(start: number): boolean {
    let at = this.#win.skipSpace(start);
    for (let closer = readDamagedCloser(this.#win, at); closer; closer = readDamagedCloser(this.#win, at))
      at = this.#win.skipSpace(closer.end);
    const tag = this.#win.char(at) === '<' ? readTag(this.#win, at) : null;
    return this.#win.isEnd(at) || (tag !== null && isPlainRole(tag.name));
  }

  /** What the tag at `at` means for the value; a span ends the search. */
  #mark(at: number): ValueSpan | null {
    const { closer, name, key } = this.#job;
    if (this.#win.startsWith(closer, at)) return this.#own(at, at + closer.length);
    const tag = readTag(this.#win, at);
    if (tag && !tag.closing) return this.#opener(at, tag);
    if (tag?.name === name) return this.#own(at, tag.end);
    if (tag && closesCall(tag)) return this.#callCloser(at, tag.end);
    const damaged = readDamagedCloser(this.#win, at);
    if (!damaged) return null;
    const { word, end } = damaged;
    if (resembles(word, name) || (key !== '' && word === key.toLowerCase())) return this.#variant(at, end);
    return !tag && isCallWord(word) ? this.#callCloser(at, end) : null;
  }

  /** Another spelling of the closer, or the key in its place: only where the call goes on behind it. */
  #variant(at: number, next: number): ValueSpan | null {
    return this.#depth === 0 && this.#goesOn(next) ? { end: at, next } : null;
  }

  #own(at: number, next: number): ValueSpan | null {
    const span = { end: at, next };
    if (this.#depth > 0) {
      this.#depth -= 1;
      this.#lastOwn = span;
    } else if (this.#goesOn(next)) return span;
    else this.#firstOwn ??= span;
    return null;
  }

  /** The next argument of this call ends the value; any other one belongs to it, and so does a call, unless an end is known. */
  #opener(at: number, tag: Tag): ValueSpan | null {
    const isSame = tag.name === this.#job.name;
    if (isSame || tag.name === 'arg_key') {
      if (this.#depth === 0 && this.#calls === 0 && this.#job.isNextKey(this.#keyOf(tag))) return this.#before(at);
      if (isSame) this.#depth += 1;
      return null;
    }
    if (!opensCall(tag)) return null;
    const likely = this.#calls === 0 ? (this.#firstOwn ?? this.#lastOwn ?? this.#callEnd) : null;
    if (!likely) this.#calls += 1;
    return likely;
  }

  #keyOf(tag: Tag): string {
    if (tag.name !== 'arg_key') return tag.value || attribute(tag, KEY_ATTRIBUTES);
    const close = this.#win.find('<', tag.end);
    return close === -1 || close - tag.end > MAX_KEY ? '' : this.#win.slice(tag.end, close).trim();
  }

  #callCloser(at: number, behind: number): ValueSpan | null {
    if (this.#calls > 0) this.#calls -= 1;
    else if (this.#win.char(at - 1) === '\n') return this.#before(at);
    else this.#callEnd ??= { end: at, next: at, behind };
    return null;
  }

  /** The value ends at `at` at the latest: at the closer right before it, if there is one. */
  #before(at: number): ValueSpan {
    const [own, call] = [this.#lastOwn, this.#callEnd];
    if (own && this.#win.skipSpace(own.next) === at) return own;
    if (call && this.#win.skipSpace(call.behind) === at) return call;
    return this.#firstOwn ?? { end: at, next: at };
  }

  /** A call can go on at `at`: the end, an argument, the end of the call or of its container, a special token. */
  #goesOn(at: number): boolean {
    const win = this.#win;
    const next = win.skipSpace(at);
    const char = win.char(next);
    if (char !== '<') return char === '' || beginsBareKey(win, next);
    const tag = readTag(win, next);
    if (!tag) return isCallWord(readDamagedCloser(win, next)?.word ?? '');
    if (isArgumentElement(tag.name)) return true;
    if (tag.closing) return closesCall(tag) || isCallWord(tag.name);
    return isPlainRole(tag.name) || this.#job.isNextKey(tag.name);
  }
}

function isArgumentElement(name: string): boolean {
  return PARAMETER_ELEMENTS.has(name) || WRAPPER_ELEMENTS.has(name) || VALUE_ELEMENTS.has(name);
}

function opensCall(tag: Tag): boolean {
  return tagRole(tag.name) === 'call-open' || (CALL_ELEMENTS.has(tag.name) && (tag.value || tag.attributes) !== '');
}

function closesCall(tag: Tag): boolean {
  return isCallCloser(tag) || (tag.closing && CALL_ELEMENTS.has(tag.name));
}

function isPlainRole(name: string): boolean {
  const role = tagRole(name);
  return role !== 'none' && role !== 'reasoning';
}
