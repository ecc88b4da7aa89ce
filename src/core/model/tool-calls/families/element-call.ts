/**
 * Owns calls written as elements: `<function=name><parameter=key>…`, `<invoke name="…"><parameter name="…">…`, DSML, GLM
 * `<arg_key>/<arg_value>`, `<tool><param>…`, and an element that is named after the tool. Values are text, typed by the
 * tool's schema. A missing closer is forgiven where the next tag stands on a new line; a value cut off is `truncated`.
 */
import { argumentRecord } from '../reading/call-of-value.ts';
import { coerceText, valueOfText } from '../reading/coerce-text.ts';
import { attribute, readTag, type Tag } from '../reading/tag.ts';
import type { TextWindow } from '../reading/text-window.ts';
import { readValue, setOwn } from '../reading/value-reader.ts';
import { tagRole } from '../tables/tag-roles.ts';
import type { DeclaredTool } from '../tool-catalog.ts';
import { isStopAt, type MatchContext, type UnitRead } from './match.ts';

const CALL_ELEMENTS = new Set([
  'function',
  'invoke',
  'tool',
  'call',
  'tool_call',
  'function_call',
  'action',
  'use_tool',
  'tool_use',
  'execute',
]);
const NAME_ELEMENTS = new Set(['name', 'tool_name', 'function_name', 'function', 'tool', 'invoke']);
const PARAMETER_ELEMENTS = new Set(['parameter', 'param', 'arg', 'argument', 'parameters', 'property', 'field']);
const WRAPPER_ELEMENTS = new Set([
  'parameters',
  'arguments',
  'args',
  'input',
  'inputs',
  'params',
  'tool_input',
  'tool_args',
  'tool_sep',
]);
const NAME_ATTRIBUTES = ['name', 'tool_name', 'tool', 'function', 'id'];
const KEY_ATTRIBUTES = ['name', 'key', 'id'];

/** The tool name that an opening tag carries, or ''. */
export function elementName(tag: Tag): string {
  if (tag.closing || !CALL_ELEMENTS.has(tag.name)) return '';
  return tag.value || attribute(tag, NAME_ATTRIBUTES.slice(0, 4));
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

  constructor(win: TextWindow, tool: DeclaredTool | null, closer: string) {
    this.#win = win;
    this.#tool = tool;
    this.#closer = closer;
  }

  read(start: number, written: string): UnitRead {
    this.#pos = start;
    let step: Step = 'next';
    while (step === 'next') step = this.#step();
    if (step !== 'done') return { ok: false, truncated: step === 'truncated', written };
    return { ok: true, calls: [{ written, tool: this.#tool, arguments: this.#result }], end: this.#pos };
  }

  #step(): Step {
    const at = this.#win.skipSpace(this.#pos);
    const char = this.#win.char(at);
    if (char === '') return 'done';
    if (char === '{') return this.#json(at);
    if (char !== '<') return 'done';
    if (this.#closer !== '' && this.#win.startsWith(this.#closer, at)) {
      this.#pos = at + this.#closer.length;
      return 'done';
    }
    const tag = readTag(this.#win, at);
    if (!tag) return this.#win.find('>', at) === -1 ? 'truncated' : 'done';
    return this.#tag(tag);
  }

  #json(at: number): Step {
    const read = readValue(this.#win, at, { bare: true, isStop: (stop) => isStopAt(this.#win, stop) });
    if (!read.ok) return read.truncated ? 'truncated' : 'fail';
    for (const [key, value] of Object.entries(argumentRecord(read.value) ?? {})) setOwn(this.#result, key, value);
    this.#pos = read.end;
    return 'next';
  }

  #tag(tag: Tag): Step {
    if (tag.name === 'arg_key') return tag.closing ? this.#skip(tag) : this.#pair(tag);
    const key = this.#keyOf(tag);
    if (key !== '') return this.#value(tag, key);
    if (WRAPPER_ELEMENTS.has(tag.name)) return this.#skip(tag);
    if (
      tag.closing &&
      (PARAMETER_ELEMENTS.has(tag.name) || tag.name === 'arg_value' || this.#tool?.properties.has(tag.name))
    )
      return this.#skip(tag);
    return 'done';
  }

  #keyOf(tag: Tag): string {
    if (tag.closing) return '';
    if (PARAMETER_ELEMENTS.has(tag.name)) {
      const key = tag.value || attribute(tag, KEY_ATTRIBUTES);
      if (key !== '') return key;
    }
    if (tag.special || tagRole(tag.name) === 'call-open') return '';
    for (const key of this.#tool?.properties.keys() ?? []) if (key.toLowerCase() === tag.name) return key;
    return '';
  }

  #skip(tag: Tag): Step {
    this.#pos = tag.end;
    return 'next';
  }

  #value(tag: Tag, key: string): Step {
    const end = this.#valueEnd(tag.end, tag.closer, [
      '\n<parameter=',
      '\n<parameter ',
      '\n</function>',
      '\n</invoke>',
      '\n</tool_call>',
    ]);
    if (end === -1) return 'truncated';
    const text = unwrapText(this.#win.slice(tag.end, end));
    setOwn(this.#result, key, this.#typed(tag, key, text));
    this.#pos = this.#win.startsWith(tag.closer, end) ? end + tag.closer.length : end;
    return 'next';
  }

  #typed(tag: Tag, key: string, text: string): unknown {
    const isString = attribute(tag, ['string']);
    if (isString === 'true') return text;
    if (isString === 'false') return valueOfText(text) ?? text;
    return coerceText(text, this.#tool?.properties.get(key));
  }

  #pair(tag: Tag): Step {
    const keyEnd = this.#win.find('<', tag.end);
    if (keyEnd === -1) return 'truncated';
    const key = this.#win.slice(tag.end, keyEnd).trim();
    let at = keyEnd;
    for (const skipped of ['</arg_key>', '<arg_value>']) {
      const next = this.#win.skipSpace(at);
      if (this.#win.startsWith(skipped, next)) at = next + skipped.length;
    }
    if (at === keyEnd) return 'fail';
    const end = this.#valueEnd(at, '</arg_value>', ['\n<arg_key>', '\n</tool_call>']);
    if (end === -1) return 'truncated';
    setOwn(this.#result, key, coerceText(unwrapText(this.#win.slice(at, end)), this.#tool?.properties.get(key)));
    this.#pos = end;
    return 'next';
  }

  /** Where the value ends; without any closer the text must at least end on a line break, else it was cut off. */
  #valueEnd(start: number, closer: string, others: readonly string[]): number {
    const own = this.#win.find(closer, start);
    const limit = own === -1 ? this.#win.text.length : own;
    const early = others.map((other) => this.#win.findBefore(other, start, limit)).filter((at) => at !== -1);
    if (early.length > 0) return Math.min(...early);
    if (own !== -1) return own;
    return this.#win.text.endsWith('\n') && this.#win.text.length > start + 1 ? this.#win.text.length : -1;
  }
}

/** One line break on either side belongs to the layout, not to the value. */
function unwrapText(text: string): string {
  const inner = text.replace(/^\r?\n/, '').replace(/\r?\n$/, '');
  const data = /^\s*<!\[CDATA\[([\s\S]*)\]\]>\s*$/.exec(inner);
  return data?.[1] ?? inner;
}
