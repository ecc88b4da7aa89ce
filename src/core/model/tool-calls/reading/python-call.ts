/**
 * Owns reading `name(a=1, b='x')` and `[f(…), g(…)]`: names, positional and keyword arguments, Python literals. Knows
 * declared property order (for positional arguments) but no policy: whether the text may be a call is decided elsewhere.
 */
import type { DeclaredTool, ToolCatalog } from '../tool-catalog.ts';
import { isRecord } from '../tool-catalog.ts';
import { lacksArguments, type WrittenCall } from './call-of-value.ts';
import { coerceText } from './coerce-text.ts';
import type { TextWindow } from './text-window.ts';
import { endsOpen, readValue, setOwn, skipTrivia, type ValueOptions } from './value-reader.ts';

export type PythonRead =
  | { readonly ok: true; readonly calls: readonly WrittenCall[]; readonly end: number }
  | { readonly ok: false; readonly truncated: boolean; readonly written: string | null };

export interface PythonContext {
  readonly win: TextWindow;
  readonly catalog: ToolCatalog;
  readonly options?: ValueOptions;
}

interface Argument {
  readonly key: string | null;
  readonly value: unknown;
  readonly bare: boolean;
}

type Step<T> =
  | { readonly ok: true; readonly value: T; readonly end: number }
  | { readonly ok: false; readonly truncated: boolean };

/** Wrappers that models put around the call itself. */
const WRAPPERS = new Set(['print', 'await']);

/** One call at `pos`; null when no `name(` stands there. */
export function readPythonCall(context: PythonContext, pos: number, wrappers = 0): PythonRead | null {
  const { win } = context;
  const written = oddName(context, pos) ?? win.identifier(pos);
  const open = win.skipBlank(pos + written.length);
  if (written === '' || win.char(open) !== '(') return null;
  if (WRAPPERS.has(written)) return wrappers > 1 ? null : unwrap(context, open + 1, wrappers + 1);
  const tool = context.catalog.resolve(written);
  const list = readArguments(context, open + 1);
  if (!list.ok) return { ok: false, truncated: list.truncated, written };
  const args = bindArguments(list.value, tool);
  if (!args) return { ok: false, truncated: false, written };
  if (win.isEnd(list.end) && win.code(list.end - 1) !== 41 && lacksArguments({ written, tool, arguments: args }))
    return { ok: false, truncated: true, written };
  return { ok: true, calls: [{ written, tool, arguments: args }], end: list.end };
}

/** A declared name that is no identifier (`Market Trends API`). */
function oddName({ win, catalog }: PythonContext, pos: number): string | undefined {
  return catalog.oddNames.find((name) => win.startsWith(name, pos));
}

function unwrap(context: PythonContext, pos: number, wrappers: number): PythonRead | null {
  const inner = readPythonCall(context, context.win.skipSpace(pos), wrappers);
  if (!inner?.ok) return inner;
  const close = context.win.skipSpace(inner.end);
  return context.win.char(close) === ')'
    ? { ...inner, end: close + 1 }
    : { ok: false, truncated: context.win.isEnd(close), written: null };
}

/** `[f(…), g(…)]` at `pos`; null when no list of calls begins there. A missing `]` at the end is forgiven. */
export function readPythonList(context: PythonContext, pos: number): PythonRead | null {
  const { win } = context;
  if (win.char(pos) !== '[') return null;
  const calls: WrittenCall[] = [];
  let end = pos;
  for (let next: ListPlace = { kind: 'next', at: win.skipSpace(pos + 1) }; next.kind !== 'done'; ) {
    const read = readPythonCall(context, next.at);
    if (!read && calls.length === 0) return null;
    if (!read?.ok) return read ?? { ok: false, truncated: win.isEnd(next.at), written: null };
    calls.push(...read.calls);
    next = afterItem(context, read.end);
    if (next.kind === 'bad') return { ok: false, truncated: false, written: null };
    end = next.at;
  }
  return { ok: true, calls, end };
}

interface ListPlace {
  readonly kind: 'done' | 'next' | 'bad';
  readonly at: number;
}

/** Behind one call of a list: its end, the next call, or something that does not belong there. */
function afterItem({ win, options }: PythonContext, end: number): ListPlace {
  const at = win.skipSpace(end);
  const char = win.char(at);
  if (char === ']') return { kind: 'done', at: at + 1 };
  if (char === '' || options?.isStop?.(at)) return { kind: 'done', at };
  if (char !== ',' && char !== ';') return { kind: 'bad', at };
  const next = win.skipSpace(at + 1);
  return win.char(next) === ']' ? { kind: 'done', at: next + 1 } : { kind: 'next', at: next };
}

function readArguments(context: PythonContext, start: number): Step<Argument[]> {
  const { win } = context;
  const list: Argument[] = [];
  let at = skipTrivia(win, start);
  while (win.char(at) !== ')') {
    if (win.isEnd(at) || context.options?.isStop?.(at)) return endOfText(win, list, at);
    const argument = readArgument(context, at);
    if (!argument.ok) return argument;
    list.push(argument.value);
    at = skipTrivia(win, argument.end);
    const next = behindArgument(context, at);
    if (next === 'bad') return { ok: false, truncated: false };
    if (next === 'done') return { ok: true, value: list, end: at };
    at = next;
  }
  return { ok: true, value: list, end: at + 1 };
}

/** Where the next argument begins; `done` at the `]` of the list around the call, whose own `)` is missing. */
function behindArgument({ win, options }: PythonContext, at: number): number | 'done' | 'bad' {
  const char = win.char(at);
  if (char === ',') return skipTrivia(win, at + 1);
  if (char === ']') return 'done';
  return char === ')' || win.isEnd(at) || options?.isStop?.(at) ? at : 'bad';
}

/** Only the closer is missing; but `f(` alone was cut off before its arguments. */
function endOfText(win: TextWindow, list: Argument[], at: number): Step<Argument[]> {
  const cut = list.length === 0 || (win.isEnd(at) && endsOpen(win));
  return cut ? { ok: false, truncated: true } : { ok: true, value: list, end: at };
}

function readArgument(context: PythonContext, pos: number): Step<Argument> {
  const { win } = context;
  const stars = win.startsWith('**', pos) ? 2 : 0;
  const key = stars > 0 ? null : readKey(win, pos);
  const start = key ? key.end : pos + stars;
  const read = readValue(win, start, {
    ...context.options,
    python: true,
    adjacent: true,
    bare: key !== null && context.options?.bare === true,
  });
  if (!read.ok) return { ok: false, truncated: read.truncated };
  return { ok: true, value: { key: key?.name ?? null, value: read.value, bare: read.bare }, end: read.end };
}

function readKey(win: TextWindow, pos: number): { name: string; end: number } | null {
  const word = win.identifier(pos);
  const colon = word.indexOf(':');
  const name = colon === -1 ? word : word.slice(0, colon);
  if (!/^[\p{L}_$][\p{L}\p{N}_$\-.]*$/u.test(name)) return null;
  const at = win.skipSpace(pos + name.length);
  const char = win.char(at);
  return (char === '=' || char === ':') && win.char(at + 1) !== '=' ? { name, end: at + 1 } : null;
}

/** Positional arguments take the declared properties in order; a lone object of declared properties is the arguments. */
function bindArguments(list: readonly Argument[], tool: DeclaredTool | null): Record<string, unknown> | null {
  const result: Record<string, unknown> = {};
  const order = [...(tool?.properties.keys() ?? [])].values();
  for (const argument of list) {
    const entries = entriesOf(argument, list, tool) ?? [[argument.key ?? order.next().value, argument.value] as const];
    for (const [name, value] of entries) {
      if (name === undefined) return null;
      setOwn(result, name, argument.bare ? coerceText(String(value), tool?.properties.get(name)) : value);
    }
  }
  return result;
}

/** What `**{…}` or a lone object contributes, or null for an ordinary argument. */
function entriesOf(
  argument: Argument,
  list: readonly Argument[],
  tool: DeclaredTool | null,
): [string, unknown][] | null {
  if (argument.key !== null || !isRecord(argument.value)) return null;
  return isArgumentObject(argument.value, list, tool) ? Object.entries(argument.value) : null;
}

function isArgumentObject(
  value: Record<string, unknown>,
  list: readonly Argument[],
  tool: DeclaredTool | null,
): boolean {
  const keys = Object.keys(value);
  return (list.length === 1 && tool === null) || (keys.length > 0 && keys.every((key) => tool?.properties.has(key)));
}
