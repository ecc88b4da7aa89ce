/**
 * Owns calls written as elements: `<function=name><parameter=key>…`, `<invoke name="…"><parameter name="…">…`, DSML, GLM
 * `<arg_key>/<arg_value>`, `<tool><param>…`, and an element that is named after the tool. Values are text, typed by the
 * tool's schema. A missing closer is forgiven where the next tag stands on a new line; a value cut off is `truncated`.
 */
import { argumentRecord } from '../reading/call-of-value.ts';
import { coerceText, valueOfText } from '../reading/coerce-text.ts';
import { type DamagedCloser, readDamagedCloser, resembles } from '../reading/damaged-closer.ts';
import { attribute, readTag, type Tag } from '../reading/tag.ts';
import type { TextWindow } from '../reading/text-window.ts';
import { readValue, setOwn } from '../reading/value-reader.ts';
import {
  CALL_ELEMENTS,
  isValueElement,
  KEY_ATTRIBUTES,
  NAME_ATTRIBUTES,
  NAME_ELEMENTS,
  PARAMETER_ELEMENTS,
  WRAPPER_ELEMENTS,
} from '../tables/element-names.ts';
import { tagRole } from '../tables/tag-roles.ts';
import type { DeclaredTool } from '../tool-catalog.ts';
import { valueSpan } from './element-value.ts';
import { isStopAt, type MatchContext, type UnitRead } from './match.ts';

/** The tool name that an opening tag carries, or ''. */
export function elementName(tag: Tag): string {
  if (tag.closing || !CALL_ELEMENTS.has(tag.name)) return '';
  return tag.value || attribute(tag, NAME_ATTRIBUTES);
}

/** A call whose opening tag has been read; `written` is the name in it. */
export function readElementCall(context: MatchContext, tag: Tag, written: string): UnitRead {
  const tool = context.catalog.resolve(written);
  return new ElementArguments(context.win, tool, tag.closer).read(tag.end, written);
}

/** `<name>get_weather</name><arguments>{…}</arguments>`, and an element named after a declared tool. */
export function readNestedElement(context: MatchContext, tag: Tag): UnitRead {
  if (tag.closing) return null;
  if (context.catalog.resolve(tag.name) && !tag.special) return readElementCall(context, tag, tag.name);
  if (!NAME_ELEMENTS.has(tag.name)) return null;
  const written = context.win.identifier(context.win.skipSpace(tag.end));
  const at = context.win.skipSpace(context.win.skipSpace(tag.end) + written.length);
  const close = written === '' ? null : readTag(context.win, at);
  if (!close) return null;
  const start = close.closing && close.name === tag.name ? close.end : at;
  return new ElementArguments(context.win, context.catalog.resolve(written), tag.closer).read(start, written);
}

/** `name` has been read; `<arg_key>` or `<parameter…>` stands at `pos`. */
export function readArgumentElements(context: MatchContext, pos: number, written: string): UnitRead {
  return new ElementArguments(context.win, context.catalog.resolve(written), '').read(pos, written);
}

type Step = 'next' | 'done' | 'truncated' | 'fail';

class ElementArguments {
  readonly #win: TextWindow;
  readonly #tool: DeclaredTool | null;
  readonly #closer: string;
  readonly #result: Record<string, unknown> = {};
  #pos = 0;
  #closed = false;

  constructor(win: TextWindow, tool: DeclaredTool | null, closer: string) {
    this.#win = win;
    this.#tool = tool;
    this.#closer = closer;
  }

  read(start: number, written: string): UnitRead {
    this.#pos = start;
    let step: Step = 'next';
    while (step === 'next') step = this.#step();
    if (step !== 'done' || this.#isUnread())
      return { ok: false, truncated: step === 'truncated' || this.#win.isEnd(this.#win.skipSpace(this.#pos)), written };
    return { ok: true, calls: [{ written, tool: this.#tool, arguments: this.#result }], end: this.#pos };
  }

  /**
   * A required argument is missing, and the text was cut off, or nothing was read and something stands where arguments
   * should: better no call than half a one.
   */
  #isUnread(): boolean {
    if (this.#closed || !this.#tool?.required.some((key) => !Object.hasOwn(this.#result, key))) return false;
    const at = this.#win.skipSpace(this.#pos);
    const char = this.#win.char(at);
    if (char !== '' && Object.keys(this.#result).length > 0) return false;
    if (char === '`') return false;
    if (char === '') return true;
    return char !== '<' || !(isStopAt(this.#win, at) || readTag(this.#win, at)?.name === 'function');
  }

  #step(): Step {
    const at = this.#win.skipSpace(this.#pos);
    const char = this.#win.char(at);
    if (char === '') return 'done';
    if (char === '{') return this.#json(at);
    if (char !== '<') return this.#bareKey(at);
    if (this.#closer !== '' && this.#win.startsWith(this.#closer, at)) return this.#close(at + this.#closer.length);
    const tag = readTag(this.#win, at);
    if (tag && !tag.closing) return this.#tag(tag);
    const closer = readDamagedCloser(this.#win, at);
    if (closer) return this.#damaged(closer);
    if (tag) return this.#tag(tag);
    return this.#win.find('>', at) === -1 ? 'truncated' : 'done';
  }

  /** `timeout</arg_key>`: the opener was lost. */
  #bareKey(at: number): Step {
    const key = this.#win.identifier(at);
    const tag = key === '' ? null : readTag(this.#win, at + key.length);
    return tag?.name === 'arg_key' || tag?.name === 'arg_value' ? this.#pair(at) : 'done';
  }

  #close(end: number): Step {
    this.#pos = end;
    this.#closed = true;
    return 'done';
  }

  /** A closing tag in any spelling: of an argument it is skipped, of this call it ends it, any other one is not ours. */
  #damaged({ word, end }: DamagedCloser): Step {
    if (/param|arg|inputs?$/.test(word) || this.#tool?.properties.has(word)) {
      this.#pos = end;
      return 'next';
    }
    return this.#closer !== '' && resembles(word, this.#closer) ? this.#close(end) : 'done';
  }

  #json(at: number): Step {
    const read = readValue(this.#win, at, { bare: true, isStop: (stop) => isStopAt(this.#win, stop) });
    if (!read.ok) return read.truncated ? 'truncated' : 'fail';
    for (const [key, value] of Object.entries(argumentRecord(read.value) ?? {})) setOwn(this.#result, key, value);
    this.#pos = read.end;
    return 'next';
  }

  #tag(tag: Tag): Step {
    if (tag.name === 'arg_key') return tag.closing ? this.#skip(tag) : this.#pair(tag.end);
    const key = this.#keyOf(tag);
    if (key !== '') return this.#value(tag, key);
    const skipped = WRAPPER_ELEMENTS.has(tag.name) || (tag.closing && this.#closesArgument(tag.name));
    return skipped ? this.#skip(tag) : 'done';
  }

  #closesArgument(name: string): boolean {
    return PARAMETER_ELEMENTS.has(name) || isValueElement(name) || this.#tool?.properties.has(name) === true;
  }

  #keyOf(tag: Tag): string {
    if (tag.closing) return '';
    const named = PARAMETER_ELEMENTS.has(tag.name) ? this.#namedKey(tag) : '';
    if (named !== '') return named;
    if (tag.special || tagRole(tag.name) === 'call-open') return '';
    for (const key of this.#tool?.properties.keys() ?? []) if (key.toLowerCase() === tag.name) return key;
    return '';
  }

  /** `<parameter=key>`, `<parameter name="key">`, `<parameter key>`. */
  #namedKey(tag: Tag): string {
    const key = tag.value || attribute(tag, KEY_ATTRIBUTES);
    return key === '' && this.#tool?.properties.has(tag.attributes) ? tag.attributes : key;
  }

  #skip(tag: Tag): Step {
    this.#pos = tag.end;
    return 'next';
  }

  #value(tag: Tag, key: string): Step {
    const { name, closer } = tag;
    const span = valueSpan(this.#win, {
      start: tag.end,
      name,
      closer,
      key,
      isNextKey: (next) => this.#isNextKey(next),
    });
    if (!span) return 'truncated';
    const exact = attribute(tag, ['string']) !== '';
    const layout = exact ? 'exact' : tag.value === '' ? 'pair' : 'block';
    const raw = this.#win.slice(tag.end, span.end);
    // Without a closer, the line break before the next tag is layout.
    const isBlock = /^\r?\n/.test(raw);
    const text = unwrapText(span.next === span.end && !isBlock ? raw.replace(/\r?\n$/, '') : raw, layout);
    setOwn(this.#result, key, this.#typed(tag, key, text));
    this.#pos = span.next;
    return 'next';
  }

  #isNextKey(key: string): boolean {
    return this.#tool?.properties.has(key) === true && !Object.hasOwn(this.#result, key);
  }

  #typed(tag: Tag, key: string, text: string): unknown {
    const isString = attribute(tag, ['string']);
    if (isString === 'true') return text;
    if (isString === 'false') return valueOfText(text) ?? text;
    return coerceText(text, this.#tool?.properties.get(key));
  }

  /** `<arg_key>key</arg_key><arg_value>value</arg_value>`, behind the first opener; each mark but one may be missing. */
  #pair(start: number): Step {
    const keyEnd = this.#win.find('<', start);
    if (keyEnd === -1) return 'truncated';
    const key = this.#win.slice(start, keyEnd).trim();
    const { at, opened } = this.#valueStart(keyEnd);
    if (at === keyEnd || key === '' || key.length > MAX_KEY) return 'fail';
    const closer = '</arg_value>';
    const isNextKey = (next: string): boolean => next !== key && this.#isNextKey(next);
    const span = valueSpan(this.#win, { start: at, name: 'arg_value', closer, key: '', isNextKey });
    if (!span) return 'truncated';
    let text = this.#win.slice(at, span.end);
    // Where a mark is missing, the line break in its place is what remains of the layout.
    if (!opened) text = text.replace(/^\r?\n/, '');
    if (span.next === span.end) text = text.replace(/\r?\n$/, '');
    text = unwrapText(text, 'pair');
    setOwn(this.#result, key, coerceText(text, this.#tool?.properties.get(key)));
    this.#pos = span.next;
    return 'next';
  }

  #valueStart(keyEnd: number): { at: number; opened: boolean } {
    let at = keyEnd;
    let opened = false;
    for (const name of ['arg_key', 'arg_value']) {
      const tag = readTag(this.#win, this.#win.skipSpace(at));
      if (tag?.name !== name || tag.closing !== (name === 'arg_key')) continue;
      at = tag.end;
      opened = name === 'arg_value';
    }
    return { at, opened };
  }
}

const MAX_KEY = 120;

/**
 * Line breaks that belong to the layout, not to the value: none in an `exact` one, one on either side of a `block` that
 * begins with one, one on both sides of a `pair`, whose template has none.
 */
function unwrapText(text: string, layout: 'exact' | 'block' | 'pair'): string {
  if (layout === 'exact' || !/^\r?\n/.test(text) || (layout === 'pair' && !text.endsWith('\n'))) return unquoted(text);
  return unquoted(text.replace(/^\r?\n/, '').replace(/\r?\n$/, ''));
}

function unquoted(text: string): string {
  const data = /^\s*<!\[CDATA\[([\s\S]*)\]\]>\s*$/.exec(text);
  return data?.[1] ?? text;
}
