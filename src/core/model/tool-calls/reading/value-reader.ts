/**
 * Owns the lenient value reader: JSON, and what models write for it (single quotes, unquoted keys, Python literals,
 * comments, trailing or missing commas, missing closers at the end or before a tag). Knows nothing of calls. Depth is
 * capped; a value cut off inside a string is `truncated`, never guessed. Valid JSON reads exactly as JSON.
 */
import { readString, stringDelimiter } from './string-literal.ts';
import { isSpaceCode, type TextWindow } from './text-window.ts';

export type ValueRead =
  | { readonly ok: true; readonly value: unknown; readonly end: number; readonly bare: boolean; readonly cut: boolean }
  | { readonly ok: false; readonly truncated: boolean; readonly at: number; readonly open: number };

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
  ['true', true],
  ['false', false],
  ['null', null],
  ['True', true],
  ['False', false],
  ['None', null],
  ['TRUE', true],
  ['FALSE', false],
  ['NULL', null],
  ['undefined', null],
  ['nil', null],
]);
const NUMBER = /^[+-]?(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const HEX_NUMBER = /^0[xX][0-9a-fA-F]+$/;
const STRING_PREFIX = /^(?:[rRbBfFuU]|[rR][bBfF]|[bBfF][rR])$/;
const BARE_END = new Set([',', '}', ']', ')', '\n', '']);
const TOKEN_QUOTE = '<|"|>';
const MAX_LOST = 20_000;
const CLOSERS: Readonly<Record<string, string>> = { '{': '}', '[': ']', '(': ')' };

/** Sets an own property whatever its name is (`__proto__` included). */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}

export function readValue(win: TextWindow, pos: number, options: ValueOptions = {}): ValueRead {
  const reader = new ValueReader(win, pos, options);
  const value = reader.value();
  if (reader.failed) return { ok: false, truncated: reader.truncated, at: reader.pos, open: reader.open };
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
  const code = win.code(at);
  if (code === 35) return win.lineEnd(at);
  if (code !== 47) return at;
  if (win.startsWith('//', at)) return win.lineEnd(at);
  if (!win.startsWith('/*', at)) return at;
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
  /** Where the innermost bracket began that was open at the failure. */
  open: number;
  readonly #openAt: number[] = [];
  readonly #win: TextWindow;
  readonly #options: ValueOptions;
  readonly #open: string[] = [];

  constructor(win: TextWindow, pos: number, options: ValueOptions) {
    this.#win = win;
    this.pos = pos;
    this.open = pos;
    this.#options = options;
  }

  value(): unknown {
    this.pos = skipTrivia(this.#win, this.pos);
    const char = this.#win.char(this.pos);
    if (char === '') return this.#fail(true);
    if (char === '{') return this.#nested(char, () => this.#object());
    if (char === '[') return this.#nested(char, () => this.#list(']'));
    if (char === '(' && this.#options.python) return this.#nested(char, () => this.#list(')'));
    if (stringDelimiter(this.#win, this.pos)) return this.#string(false);
    return this.#word();
  }

  #fail(truncated = false): undefined {
    if (!this.failed) {
      this.truncated = truncated;
      this.open = this.#openAt.at(-1) ?? this.open;
    }
    this.failed = true;
    return undefined;
  }

  #nested(open: string, read: () => unknown): unknown {
    if (this.#open.length >= MAX_DEPTH) return this.#fail();
    this.#openAt.push(this.pos);
    this.#open.push(CLOSERS[open] ?? '');
    this.pos += 1;
    const value = read();
    this.#open.pop();
    this.#openAt.pop();
    return value;
  }

  /** `{{…}}` is an object too: the braces of a template that was copied. */
  #object(): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    const doubled = this.#win.char(this.pos) === '{';
    if (doubled) this.pos += 1;
    while (!this.failed && !this.#closed('}')) {
      const key = this.#key();
      if (this.failed) break;
      const value = this.value();
      if (this.failed) break;
      setOwn(result, key, value);
      this.#separator();
    }
    if (doubled && this.#win.char(this.pos) === '}' && this.#win.char(this.pos - 1) === '}') this.pos += 1;
    return result;
  }

  #list(close: string): unknown[] {
    const result: unknown[] = [];
    while (!this.failed && !this.#closed(close)) {
      const value = this.value();
      if (this.failed) break;
      result.push(value);
      this.#separator();
    }
    return result;
  }

  /** Consumes the closer of the innermost bracket; a missing one counts as closed at the end, a tag or an outer closer. */
  #closed(close: string): boolean {
    this.pos = skipTrivia(this.#win, this.pos);
    const char = this.#win.char(this.pos);
    if (char === close) {
      this.pos += 1;
      return true;
    }
    if (char === '') {
      this.cut = true;
      return !endsOpen(this.#win) || this.#fail(true) !== undefined;
    }
    if (char === '}' || char === ']' || char === ')')
      return this.#open.slice(0, -1).includes(char) || this.#fail() !== undefined;
    return this.#options.isStop?.(this.pos) ?? false;
  }

  /** After a value: commas, or whatever `#closed` accepts, or (a forgotten comma) the quotation mark of the next key. */
  #separator(): void {
    this.pos = skipTrivia(this.#win, this.pos);
    const char = this.#win.char(this.pos);
    if (char === ',') {
      this.pos += 1;
      return;
    }
    if (char === '' || char === '}' || char === ']' || char === ')' || char === '"') return;
    if (this.#open.at(-1) === ']' && (char === '{' || stringDelimiter(this.#win, this.pos))) return;
    if (char === ';' && this.#open.length > 0) {
      this.pos += 1;
      return;
    }
    if (this.#open.at(-1) === '}' && this.#beginsKey()) return;
    if (!(this.#options.isStop?.(this.pos) ?? false)) this.#fail();
  }

  /** The next key, although the comma before it is missing. */
  #beginsKey(): boolean {
    if (stringDelimiter(this.#win, this.pos)) return true;
    const word = this.#win.identifier(this.pos);
    const after = this.#win.skipBlank(this.pos + word.length);
    return word.includes(':') || (word !== '' && (this.#win.char(after) === ':' || this.#win.char(after) === '='));
  }

  #key(): string {
    const key = stringDelimiter(this.#win, this.pos) ? this.#string(true) : this.#bareKey();
    if (this.failed) return '';
    this.pos = skipTrivia(this.#win, this.pos);
    const char = this.#win.char(this.pos);
    if (char === ':' || char === '=') this.pos += this.#win.startsWith('=>', this.pos) ? 2 : 1;
    else if (char !== '{') this.#fail(char === '');
    return key;
  }

  #bareKey(): string {
    const word = this.#win.identifier(this.pos);
    const colon = word.indexOf(':');
    const key = colon === -1 ? word : word.slice(0, colon);
    if (key === '') this.#fail();
    this.pos += key.length;
    return key;
  }

  #string(isKey: boolean, raw = false): string {
    const loose = this.#options.looseLimit;
    const mayClose = loose === undefined ? undefined : (at: number) => this.#mayClose(at, isKey);
    const read = readString(this.#win, this.pos, { raw, limit: loose, mayClose, depth: this.#open.length });
    if (!read?.ok) {
      this.pos = read?.at ?? this.pos;
      this.#fail(read?.truncated ?? false);
      return '';
    }
    this.pos = read.end;
    if (!isKey && this.#options.adjacent) return read.value + this.#adjacentString();
    return read.value;
  }

  #adjacentString(): string {
    const next = skipTrivia(this.#win, this.pos);
    if (!stringDelimiter(this.#win, next)) return '';
    this.pos = next;
    return this.#string(false);
  }

  /** Loose mode: what follows a quotation mark must be able to follow the value, up to all open brackets' end. */
  #mayClose(at: number, isKey: boolean): boolean {
    const first = this.#win.skipSpace(at);
    if (isKey) return this.#win.char(first) === ':';
    const next = this.#behindClosers(first);
    const char = this.#win.char(next);
    if (next > first && char === ',') return true;
    if (char === ',' || char === ')') return this.#maySeparate(next);
    if (char === '' || next >= (this.#options.looseLimit ?? next + 1)) return true;
    return this.#options.isStop?.(next) ?? false;
  }

  /** Index behind the closers of open brackets, innermost first, that stand at `at`. */
  #behindClosers(at: number): number {
    let next = at;
    for (let depth = this.#open.length; depth > 0 && this.#win.char(next) === this.#open[depth - 1]; depth -= 1) {
      next = this.#win.skipSpace(next + 1);
    }
    return next;
  }

  #maySeparate(at: number): boolean {
    if (this.#options.adjacent && this.#open.length === 0) return this.#mayEndArgument(at);
    return this.#win.char(at) === ',' && this.#mayFollowComma(this.#win.skipSpace(at + 1));
  }

  /** An argument of a Python call ends before `)` with nothing odd behind it, or before `, key=`. */
  #mayEndArgument(at: number): boolean {
    const next = this.#win.skipSpace(at + 1);
    if (this.#win.char(at) === ')')
      return /^[,;\])]?$/.test(this.#win.char(next)) || (this.#options.isStop?.(next) ?? false);
    const word = this.#win.identifier(next);
    return word !== '' && this.#win.char(this.#win.skipBlank(next + word.length)) === '=';
  }

  #mayFollowComma(at: number): boolean {
    const char = this.#win.char(at);
    if (this.#open.at(-1) !== '}') return char !== '' && !/[A-Za-z]/.test(char);
    if (char === '}') return true;
    const quote = stringDelimiter(this.#win, at);
    const word = this.#win.identifier(at + (quote?.open.length ?? 0));
    const after = at + (quote ? quote.open.length + quote.open.length : 0) + word.length;
    return word !== '' && (word.endsWith(':') || this.#win.char(this.#win.skipBlank(after)) === ':');
  }

  #word(): unknown {
    const word = this.#numberTail(this.#win.identifier(this.pos) || this.#sign());
    if (this.#options.python && STRING_PREFIX.test(word) && stringDelimiter(this.#win, this.pos + word.length)) {
      this.pos += word.length;
      return this.#string(false, /r/i.test(word));
    }
    const next = this.pos + word.length;
    if (word !== '' && this.#endsWord(next)) {
      if (LITERALS.has(word)) return this.#take(next, LITERALS.get(word));
      if (NUMBER.test(word) || HEX_NUMBER.test(word)) return this.#take(next, Number(word.replaceAll('_', '')));
    }
    return this.#options.bare ? this.#bareText() : this.#fail(word !== '' && this.#win.isEnd(next));
  }

  #sign(): string {
    return this.#win.char(this.pos) === '+' ? `+${this.#win.identifier(this.pos + 1)}` : '';
  }

  /** `1e+5`: the sign inside a number is no identifier character. */
  #numberTail(word: string): string {
    const at = this.pos + word.length;
    return /^[+-]?[\d.]+[eE]$/.test(word) && this.#win.char(at) === '+'
      ? `${word}+${this.#win.identifier(at + 1)}`
      : word;
  }

  #endsWord(at: number): boolean {
    const code = this.#win.code(skipTrivia(this.#win, at));
    if (code === -1 || BARE_END.has(String.fromCharCode(code)) || code === 60 || code === 34) return true;
    return at < this.#win.text.length && isSpaceCode(this.#win.code(at)) && this.#options.bare !== true;
  }

  #take(next: number, value: unknown): unknown {
    this.pos = next;
    return value;
  }

  /** `Paris, France<|"|>`: only the closing delimiter of a text is there. Looked for within the loose limit. */
  #lostOpener(): string | null {
    const limit = this.#options.looseLimit;
    if (limit === undefined) return null;
    const at = this.#win.findBefore(TOKEN_QUOTE, this.pos, limit);
    if (at === -1 || at - this.pos > MAX_LOST) return null;
    const text = this.#win.slice(this.pos, at);
    const next = this.#win.skipSpace(at + TOKEN_QUOTE.length);
    if (/[:[,{(]\s*$|,\s*\w+\s*:\s*$|,\s*\w+:\s*[-\d[{]/.test(text) || !/^[,}\]]?$/.test(this.#win.char(next)))
      return null;
    this.pos = at + TOKEN_QUOTE.length;
    return text.trimStart();
  }

  #bareText(): unknown {
    const lost = this.#lostOpener();
    if (lost !== null) return lost;
    const start = this.pos;
    let at = start;
    while (!BARE_END.has(this.#win.char(at))) {
      const code = this.#win.code(at);
      if (code === 34 || code === 123 || code === 91 || code === 40) return this.#fail();
      if (this.#options.isStop?.(at)) break;
      at += 1;
    }
    const text = this.#win.slice(start, at).trim();
    if (text === '') return this.#fail();
    if (this.#win.isEnd(at)) return this.#fail(true);
    this.pos = at;
    this.bare = true;
    return text;
  }
}
