// Owns the lenient value reader: JSON, and what models write for it (single, triple and smart quotes, raw line breaks, the text tokens of
// Gemma, unquoted keys, Python literals, comments, trailing or missing commas, missing closers at the end or before a tag). Knows nothing of
// calls. Depth is capped; a value cut off inside a string is `truncated`, never guessed. Valid JSON reads exactly as JSON. Loose mode takes a
// quotation mark inside a string for text unless what follows it can follow a value.
import { isSpaceCode, type TextWindow } from './window.ts';

export type ValueRead =
  | { readonly ok: true; readonly value: unknown; readonly end: number; readonly bare: boolean; readonly cut: boolean }
  /** `open`: where the innermost bracket began that was open at the failure. */
  | { readonly ok: false; readonly truncated: boolean; readonly open: number };

export interface ValueOptions {
  /** Accept unquoted text as a string value. */
  readonly bare?: boolean;
  /** Python: tuples and string prefixes. */
  readonly python?: boolean;
  /** Python: adjacent strings are one. */
  readonly adjacent?: boolean;
  /** Loose quotation marks, never reading past this index. */
  readonly looseLimit?: number | undefined;
  /** True where a tag or token stands that ends all open brackets. */
  readonly isStop?: ((at: number) => boolean) | undefined;
}

const MAX_DEPTH = 128;
const LITERALS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
  ...['null', 'None', 'NULL', 'undefined', 'nil'].map((word) => [word, null] as const),
]);
const NUMBER = /^[+-]?(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const HEX_NUMBER = /^0[xX][0-9a-fA-F]+$/;
const STRING_PREFIX = /^(?:[rRbBfFuU]|[rR][bBfF]|[bBfF][rR])$/;
const BARE_END = new Set([',', '}', ']', ')', '\n', '']);
const CLOSERS: Readonly<Record<string, string>> = { '{': '}', '[': ']', '(': ')' };

/** Sets an own property whatever its name is (`__proto__` included). */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

export function readValue(win: TextWindow, pos: number, options: ValueOptions = {}): ValueRead {
  const reader = new ValueReader(win, pos, options);
  const value = reader.value();
  if (reader.failed) return { ok: false, truncated: reader.truncated, open: reader.open };
  return { ok: true, value, end: reader.pos, bare: reader.bare, cut: reader.cut };
}

/** Skips white space and, between values, comments. */
export function skipTrivia(win: TextWindow, pos: number): number {
  let at = win.skipSpace(pos);
  for (;;) {
    const end = commentEnd(win, at);
    if (end === at) return at;
    at = win.skipSpace(end);
  }
}

/** The text breaks off where something must follow, or in a number that may go on. */
export function endsOpen({ text }: TextWindow): boolean {
  return /(?:[,{[(:=]\s*|\d)$/.test(text.slice(-80));
}

function commentEnd(win: TextWindow, at: number): number {
  const char = win.char(at);
  if (char === '#' || (char === '/' && win.startsWith('//', at))) return win.lineEnd(at);
  if (char !== '/' || !win.startsWith('/*', at)) return at;
  const close = win.find('*/', at + 2);
  return close === -1 ? win.text.length : close + 2;
}

class ValueReader {
  pos: number;
  failed = false;
  truncated = false;
  bare = false;
  /** The text ended while a bracket was open. */
  cut = false;
  open: number;
  readonly #win: TextWindow;
  readonly #options: ValueOptions;
  readonly #isStop: (at: number) => boolean;
  /** Open ones, outermost first. */
  readonly #brackets: { readonly closer: string; readonly at: number }[] = [];

  constructor(win: TextWindow, pos: number, options: ValueOptions) {
    this.#win = win;
    this.pos = pos;
    this.open = pos;
    this.#options = options;
    this.#isStop = options.isStop ?? (() => false);
  }

  value(): unknown {
    const char = this.#next();
    if (char === '') return this.#fail(true);
    if (char === '{' || char === '[' || (char === '(' && this.#options.python)) return this.#nested(char);
    return delimiterAt(this.#win, this.pos) ? this.#string(false) : this.#word();
  }

  /** The character behind white space and comments. */
  #next(): string {
    this.pos = skipTrivia(this.#win, this.pos);
    return this.#win.char(this.pos);
  }

  #fail(truncated = false): undefined {
    if (!this.failed) {
      this.truncated = truncated;
      this.open = this.#brackets.at(-1)?.at ?? this.open;
    }
    this.failed = true;
    return undefined;
  }

  #nested(open: string): unknown {
    if (this.#brackets.length >= MAX_DEPTH) return this.#fail();
    this.#brackets.push({ closer: CLOSERS[open] ?? '', at: this.pos });
    this.pos += 1;
    const value = open === '{' ? this.#object() : this.#list();
    this.#brackets.pop();
    return value;
  }

  /** `{{…}}` is an object too: the braces of a template that was copied. */
  #object(): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    const doubled = this.#win.char(this.pos) === '{';
    if (doubled) this.pos += 1;
    this.#items(() => {
      const key = this.#key();
      const value = this.failed ? undefined : this.value();
      if (!this.failed) setOwn(result, key, value);
    });
    if (doubled && this.#win.char(this.pos) === '}' && this.#win.char(this.pos - 1) === '}') this.pos += 1;
    return result;
  }

  #list(): unknown[] {
    const result: unknown[] = [];
    this.#items(() => result.push(this.value()));
    return result;
  }

  #items(takeOne: () => void): void {
    while (!this.failed && !this.#closed()) {
      takeOne();
      if (!this.failed) this.#separator();
    }
  }

  /** Consumes the closer of the innermost bracket; a missing one counts as closed at the end, a tag or an outer closer. */
  #closed(): boolean {
    const char = this.#next();
    if (char === this.#brackets.at(-1)?.closer) {
      this.pos += 1;
      return true;
    }
    if (char === '') {
      this.cut = true;
      if (endsOpen(this.#win)) this.#fail(true);
      return true;
    }
    if (!/[}\])]/.test(char)) return this.#isStop(this.pos);
    if (!this.#brackets.slice(0, -1).some(({ closer }) => closer === char)) this.#fail();
    return true;
  }

  /** After a value: commas, or whatever `#closed` accepts, or (a forgotten comma) the beginning of the next item. */
  #separator(): void {
    const char = this.#next();
    if (char === ',' || char === ';') this.pos += 1;
    else if (!/^["}\])]?$/.test(char) && !this.#beginsItem(char) && !this.#isStop(this.pos)) this.#fail();
  }

  /** The next item, although the comma before it is missing. */
  #beginsItem(char: string): boolean {
    const closer = this.#brackets.at(-1)?.closer;
    if (closer !== ')' && delimiterAt(this.#win, this.pos)) return true;
    if (closer !== '}') return closer === ']' && char === '{';
    const word = this.#win.identifier(this.pos);
    const after = this.#win.skipBlank(this.pos + word.length);
    return word.includes(':') || (word !== '' && /[:=]/.test(this.#win.char(after)));
  }

  #key(): string {
    const key = delimiterAt(this.#win, this.pos) ? this.#string(true) : this.#bareKey();
    if (this.failed) return '';
    const char = this.#next();
    if (char === ':' || char === '=') this.pos += this.#win.startsWith('=>', this.pos) ? 2 : 1;
    else if (char !== '{') this.#fail(char === '');
    return key;
  }

  #bareKey(): string {
    const key = this.#win.identifier(this.pos).split(':', 1)[0] ?? '';
    if (key === '') this.#fail();
    this.pos += key.length;
    return key;
  }

  #string(isKey: boolean, raw = false): string {
    const delimiter = delimiterAt(this.#win, this.pos);
    if (!delimiter) return '';
    this.pos += delimiter.open.length;
    const text = delimiter.escapes ? this.#escaped(delimiter.close[0], isKey, raw) : this.#verbatim(delimiter.close);
    if (text === undefined) this.#fail(true);
    else if (!isKey && this.#options.adjacent && delimiterAt(this.#win, skipTrivia(this.#win, this.pos))) {
      this.pos = skipTrivia(this.#win, this.pos);
      return text + this.#string(false);
    }
    return text ?? '';
  }

  #verbatim(closers: readonly string[]): string | undefined {
    const limit = this.#options.looseLimit ?? this.#win.text.length;
    const ends = closers.map((close) => ({ at: this.#win.find(close, this.pos), size: close.length }));
    const end = ends.filter(({ at }) => at !== -1 && at < limit).sort((a, b) => a.at - b.at)[0];
    if (!end) return undefined;
    const text = this.#win.slice(this.pos, end.at);
    this.pos = end.at + end.size;
    return text;
  }

  #escaped(close: string, isKey: boolean, raw: boolean): string | undefined {
    let text = '';
    for (;;) {
      const at = this.#mark(close, isKey, raw);
      if (at === -1) return undefined;
      text += this.#win.slice(this.pos, at);
      if (raw || this.#win.char(at) !== '\\') {
        this.pos = at + close.length;
        return text;
      }
      const escaped = readEscape(this.#win, at + 1);
      text += escaped.value;
      this.pos = escaped.end;
    }
  }

  /** The next backslash or closing mark, or -1. */
  #mark(close: string, isKey: boolean, raw: boolean): number {
    const { looseLimit = Number.POSITIVE_INFINITY } = this.#options;
    const first = close.charCodeAt(0);
    for (let at = this.pos; at < looseLimit; at += 1) {
      const code = this.#win.code(at);
      if (code === -1) return -1;
      if (code === BACKSLASH && !raw) return at;
      if (code === first && this.#win.startsWith(close, at) && this.#mayClose(at + close.length, isKey)) return at;
    }
    return -1;
  }

  /** Loose mode: what follows a quotation mark must be able to follow the value, up to all open brackets' end. */
  #mayClose(at: number, isKey: boolean): boolean {
    const { looseLimit } = this.#options;
    if (looseLimit === undefined) return true;
    const first = this.#win.skipSpace(at);
    if (isKey) return this.#win.char(first) === ':';
    const next = this.#behindClosers(first);
    const char = this.#win.char(next);
    if (next > first && char === ',') return true;
    if (char === ',' || char === ')') return this.#maySeparate(next);
    return char === '' || next >= looseLimit || this.#isStop(next);
  }

  /** Index behind the closers of open brackets, innermost first, that stand at `at`. */
  #behindClosers(at: number): number {
    let next = at;
    for (const { closer } of this.#brackets.toReversed()) {
      if (this.#win.char(next) !== closer) break;
      next = this.#win.skipSpace(next + 1);
    }
    return next;
  }

  #maySeparate(at: number): boolean {
    if (this.#options.adjacent && this.#brackets.length === 0) return this.#mayEndArgument(at);
    return this.#win.char(at) === ',' && this.#mayFollowComma(this.#win.skipSpace(at + 1));
  }

  /** An argument of a Python call ends before `)` with nothing odd behind it, or before `, key=`. */
  #mayEndArgument(at: number): boolean {
    const next = this.#win.skipSpace(at + 1);
    if (this.#win.char(at) === ')') return /^[,;\])]?$/.test(this.#win.char(next)) || this.#isStop(next);
    const word = this.#win.identifier(next);
    return word !== '' && this.#win.char(this.#win.skipBlank(next + word.length)) === '=';
  }

  #mayFollowComma(at: number): boolean {
    const char = this.#win.char(at);
    if (this.#brackets.at(-1)?.closer !== '}') return char !== '' && !/[A-Za-z]/.test(char);
    if (char === '}') return true;
    const quote = delimiterAt(this.#win, at)?.open.length ?? 0;
    const word = this.#win.identifier(at + quote);
    const after = at + 2 * quote + word.length;
    return word !== '' && (word.endsWith(':') || this.#win.char(this.#win.skipBlank(after)) === ':');
  }

  #word(): unknown {
    const word = this.#wordAt();
    const next = this.pos + word.length;
    if (this.#options.python && STRING_PREFIX.test(word) && delimiterAt(this.#win, next)) {
      this.pos = next;
      return this.#string(false, /r/i.test(word));
    }
    const isNumber = NUMBER.test(word) || HEX_NUMBER.test(word);
    if ((isNumber || LITERALS.has(word)) && this.#endsWord(next)) {
      this.pos = next;
      return isNumber ? Number(word.replaceAll('_', '')) : LITERALS.get(word);
    }
    return this.#options.bare ? this.#bareText() : this.#fail(word !== '' && this.#win.isEnd(next));
  }

  /** `+1` and `1e+5`, too: the sign of a number is no identifier character. */
  #wordAt(): string {
    const win = this.#win;
    const word = win.identifier(this.pos);
    if (word === '') return win.char(this.pos) === '+' ? `+${win.identifier(this.pos + 1)}` : '';
    const at = this.pos + word.length;
    return /^[+-]?[\d.]+[eE]$/.test(word) && win.char(at) === '+' ? `${word}+${win.identifier(at + 1)}` : word;
  }

  #endsWord(at: number): boolean {
    const char = this.#win.char(skipTrivia(this.#win, at));
    if (BARE_END.has(char) || char === '<' || char === '"') return true;
    return this.#options.bare !== true && isSpaceCode(this.#win.code(at));
  }

  #bareText(): unknown {
    let at = this.pos;
    for (let char = this.#win.char(at); !BARE_END.has(char); char = this.#win.char(at)) {
      if (/["{[(]/.test(char)) return this.#fail();
      if (this.#isStop(at)) break;
      at += 1;
    }
    const text = this.#win.slice(this.pos, at).trim();
    if (text === '') return this.#fail();
    if (this.#win.isEnd(at)) return this.#fail(true);
    this.pos = at;
    this.bare = true;
    return text;
  }
}

interface Delimiter {
  readonly open: string;
  readonly close: readonly [string, ...string[]];
  readonly escapes: boolean;
}

/** By the first character; longer openers first. */
const DELIMITERS: ReadonlyMap<string | undefined, readonly Delimiter[]> = Map.groupBy(
  [
    ...['"""', "'''", '"', "'", '`'].map((mark): Delimiter => ({ open: mark, close: [mark], escapes: true })),
    { open: '\u201c', close: ['\u201d'], escapes: true },
    { open: '\u2018', close: ['\u2019'], escapes: true },
    { open: '<|"|>', close: ['<|"|>'], escapes: false },
    { open: '<escape>', close: ['<escape>', '</escape>'], escapes: false },
  ],
  ({ open }) => open[0],
);

function delimiterAt(win: TextWindow, pos: number): Delimiter | undefined {
  return DELIMITERS.get(win.char(pos))?.find(({ open }) => win.startsWith(open, pos));
}

const BACKSLASH = 92;
const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '"': '"', "'": "'", '\\': '\\', '/': '/', '\n': '' },
  ...{ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' },
};
const HEX_ESCAPES: Readonly<Record<string, number>> = { u: 4, x: 2 };

/** JSON and Python escapes; one that JSON does not know is kept whole: `\d` of a pattern, `\W` of a Windows path. */
function readEscape(win: TextWindow, at: number): { value: string; end: number } {
  const char = win.char(at);
  const simple = Object.hasOwn(ESCAPES, char) ? ESCAPES[char] : undefined;
  if (simple !== undefined) return { value: simple, end: at + 1 };
  const digits = (Object.hasOwn(HEX_ESCAPES, char) && HEX_ESCAPES[char]) || 0;
  if (digits > 0) win.code(at + digits);
  const hex = win.slice(at + 1, at + 1 + digits);
  if (digits > 0 && hex.length === digits && /^[0-9a-fA-F]+$/.test(hex))
    return { value: String.fromCharCode(Number.parseInt(hex, 16)), end: at + 1 + digits };
  return { value: `\\${char}`, end: at + char.length };
}
