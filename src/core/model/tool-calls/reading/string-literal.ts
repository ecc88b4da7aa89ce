/**
 * Owns reading one quoted string as models write it: JSON and Python escapes, raw line breaks, triple and smart quotes,
 * the delimiter tokens of Gemma. Does not know what the string is for. Loose mode takes a quotation mark inside the
 * string for text unless what follows it can follow a value. An unfinished string is `truncated`, never completed.
 */
import type { TextWindow } from './text-window.ts';

export type StringRead =
  | { readonly ok: true; readonly value: string; readonly end: number }
  | { readonly ok: false; readonly truncated: boolean; readonly at: number };

interface Delimiter {
  readonly open: string;
  readonly close: readonly string[];
  readonly escapes: boolean;
}

/** Longer openers first. */
const DELIMITERS: readonly Delimiter[] = [
  { open: '"""', close: ['"""'], escapes: true },
  { open: "'''", close: ["'''"], escapes: true },
  { open: '"', close: ['"'], escapes: true },
  { open: "'", close: ["'"], escapes: true },
  { open: '`', close: ['`'], escapes: true },
  { open: '\u201c', close: ['\u201d'], escapes: true },
  { open: '\u2018', close: ['\u2019'], escapes: true },
  { open: '<|"|>', close: ['<|"|>'], escapes: false },
  { open: '<escape>', close: ['<escape>', '</escape>'], escapes: false },
];

const OPENERS = new Map<number, readonly Delimiter[]>();
for (const delimiter of DELIMITERS) {
  const code = delimiter.open.charCodeAt(0);
  OPENERS.set(code, [...(OPENERS.get(code) ?? []), delimiter]);
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '\\': '\\',
  '/': '/',
  '\n': '',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};
const HEX_ESCAPES: Readonly<Record<string, number>> = { u: 4, x: 2 };
const BACKSLASH = 92;

export function stringDelimiter(win: TextWindow, pos: number): Delimiter | null {
  const candidates = OPENERS.get(win.code(pos));
  if (!candidates) return null;
  return candidates.find((candidate) => win.startsWith(candidate.open, pos)) ?? null;
}

/** `mayClose(at)` decides in loose mode whether the quotation mark that ends before `at` ends the string. */
export interface StringMode {
  readonly raw?: boolean;
  readonly limit?: number | undefined;
  readonly mayClose?: ((at: number) => boolean) | undefined;
  /** Open brackets around the string. */
  readonly depth?: number;
}

export function readString(win: TextWindow, pos: number, mode: StringMode = {}): StringRead | null {
  const delimiter = stringDelimiter(win, pos);
  if (!delimiter) return null;
  const start = pos + delimiter.open.length;
  return delimiter.escapes
    ? readEscaped(win, { start, delimiter, mode })
    : readDelimited(win, { start, delimiter, mode });
}

function readDelimited(win: TextWindow, { start, delimiter, mode }: EscapedJob): StringRead {
  let best = -1;
  let width = 0;
  for (const close of delimiter.close) {
    const at = win.find(close, start);
    if (at !== -1 && (best === -1 || at < best)) {
      best = at;
      width = close.length;
    }
  }
  if (mode.limit !== undefined) {
    const end = lostCloser(win, { start, best, limit: mode.limit, depth: mode.depth ?? 0 });
    if (end !== -1) return { ok: true, value: win.slice(start, end), end };
  }
  if (best === -1) return { ok: false, truncated: true, at: win.text.length };
  return { ok: true, value: win.slice(start, best), end: best + width };
}

interface LostCloser {
  readonly start: number;
  readonly best: number;
  readonly limit: number;
  readonly depth: number;
}

const NEXT_KEY = /,\s*\w+:\s*(?=$|[-\d[{]|true|false|null)/;

/** Where a text ends whose closing token was left out: before the next key or the brackets at the limit; else -1. */
function lostCloser(win: TextWindow, { start, best, limit, depth }: LostCloser): number {
  const closed = best !== -1 && best < limit;
  // Without the container's end the text was cut off, not its token forgotten.
  if (!closed && limit >= win.text.length) return -1;
  if (closed && !/,\s*\w+:\s*$/.test(win.slice(Math.max(start, best - 80), best))) return -1;
  const region = win.slice(start, closed ? best : limit);
  const next = NEXT_KEY.exec(region);
  if (next) return start + next.index;
  return closed || depth === 0 ? -1 : beforeBrackets(region, start, depth);
}

/** Index before the last `depth` brackets of `region`, which begins at `start`; -1 if it does not end with so many. */
function beforeBrackets(region: string, start: number, depth: number): number {
  const tail = /[}\])\s]*$/.exec(region)?.[0] ?? '';
  let left = depth;
  for (let at = tail.length - 1; at >= 0; at -= 1) {
    if (/\S/.test(tail.charAt(at))) left -= 1;
    if (left === 0) return start + region.length - tail.length + at;
  }
  return -1;
}

interface EscapedJob {
  readonly start: number;
  readonly delimiter: Delimiter;
  readonly mode: StringMode;
}

function readEscaped(win: TextWindow, { start, delimiter, mode }: EscapedJob): StringRead {
  const close = delimiter.close[0] ?? '';
  const limit = mode.limit ?? Number.POSITIVE_INFINITY;
  let value = '';
  let from = start;
  for (;;) {
    const at = nextMark(win, { from, close, mode, limit });
    if (at === -1) return { ok: false, truncated: true, at: Math.min(limit, win.text.length) };
    value += win.slice(from, at);
    if (win.code(at) !== BACKSLASH || mode.raw === true) return { ok: true, value, end: at + close.length };
    const escaped = readEscape(win, at + 1);
    value += escaped.value;
    from = escaped.end;
  }
}

interface MarkSearch {
  readonly from: number;
  readonly close: string;
  readonly mode: StringMode;
  readonly limit: number;
}

/** The next backslash or closing mark, or -1. */
function nextMark(win: TextWindow, { from, close, mode, limit }: MarkSearch): number {
  const closeCode = close.charCodeAt(0);
  for (let at = from; at < limit; at += 1) {
    const code = win.code(at);
    if (code === -1) return -1;
    if (code === BACKSLASH && mode.raw !== true) return at;
    if (code === closeCode && closes(win, at, close, mode)) return at;
  }
  return -1;
}

function closes(win: TextWindow, at: number, close: string, mode: StringMode): boolean {
  if (!win.startsWith(close, at)) return false;
  return mode.mayClose ? mode.mayClose(at + close.length) : true;
}

function readEscape(win: TextWindow, at: number): { value: string; end: number } {
  const char = win.char(at);
  const simple = Object.hasOwn(SIMPLE_ESCAPES, char) ? SIMPLE_ESCAPES[char] : undefined;
  if (simple !== undefined) return { value: simple, end: at + 1 };
  const digits = Object.hasOwn(HEX_ESCAPES, char) ? HEX_ESCAPES[char] : undefined;
  if (digits !== undefined) {
    win.code(at + digits);
    const hex = win.slice(at + 1, at + 1 + digits);
    if (hex.length === digits && /^[0-9a-fA-F]+$/.test(hex)) {
      return { value: String.fromCharCode(Number.parseInt(hex, 16)), end: at + 1 + digits };
    }
  }
  // An escape that JSON does not know is kept whole: `\d` of a pattern, `\W` of a Windows path.
  return { value: `\\${char}`, end: at + char.length };
}
