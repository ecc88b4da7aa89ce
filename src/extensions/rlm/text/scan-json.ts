// Owns finding where a JSON object or array that begins at a place ends. Knows no prose and builds no value: of a very long number it
// only sees how far it reaches, the parser decides whether it is right.
// Invariant: never recursive, each character is read once; braces in strings do not count. Seed 003, notes 4 (lenient extraction).
import { endOfScalar, endOfString, type TokenEnd } from './token-end.ts';

/** `open`: the text ends before the value does. `wrong`: at `end` stands what JSON does not allow. `deep`: nested beyond the limit. */
export interface JsonScan {
  readonly state: 'whole' | 'open' | 'wrong' | 'deep';
  /** Behind the value, or where it went wrong; always behind the start. */
  readonly end: number;
}

/** What walks through a value recursively later stays well within any stack. */
const DEEPEST = 1_000;

/** `start`: where `{` or `[` stands. */
export function scanJson(text: string, start: number): JsonScan {
  const scanner = new Scanner();
  let at = skipBlanks(text, start);
  while (at < text.length) {
    const char = text[at] ?? '';
    const state = scanner.take(char);
    if (state !== undefined) return { state, end: state === 'whole' ? at + 1 : Math.max(at, start + 1) };
    const token = endOfToken(text, at, char);
    if (token.state !== 'whole') return token;
    at = skipBlanks(text, token.end);
  }
  return { state: 'open', end: text.length };
}

/** What may come next. */
type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end';

class Scanner {
  /** The closing mark of each open container. */
  readonly #open: string[] = [];
  #expected: Expected = 'value';

  /** Takes the first character of a token; undefined: go on behind it. */
  take(char: string): 'whole' | 'wrong' | 'deep' | undefined {
    switch (char) {
      case '{':
      case '[':
        return this.#enter(char);
      case '}':
      case ']':
        return this.#leave(char);
      case ':':
        return this.#step('colon', 'value');
      case ',':
        return this.#step('comma-or-end', this.#open.at(-1) === '}' ? 'key' : 'value');
      default:
        return this.#word(char);
    }
  }

  #word(char: string): 'wrong' | undefined {
    if (char === '"' && this.#expected.startsWith('key')) return this.#step(this.#expected, 'colon');
    const isScalar = /["\-\dtfn]/.test(char) && this.#expected.startsWith('value');
    return isScalar ? this.#step(this.#expected, 'comma-or-end') : 'wrong';
  }

  #enter(char: string): 'wrong' | 'deep' | undefined {
    if (!this.#expected.startsWith('value')) return 'wrong';
    if (this.#open.length >= DEEPEST) return 'deep';
    this.#open.push(char === '{' ? '}' : ']');
    this.#expected = char === '{' ? 'key-or-end' : 'value-or-end';
    return undefined;
  }

  #leave(char: string): 'whole' | 'wrong' | undefined {
    if (this.#open.at(-1) !== char || !this.#expected.endsWith('-or-end')) return 'wrong';
    this.#open.pop();
    this.#expected = 'comma-or-end';
    return this.#open.length === 0 ? 'whole' : undefined;
  }

  #step(needed: Expected, next: Expected): 'wrong' | undefined {
    if (this.#expected !== needed) return 'wrong';
    this.#expected = next;
    return undefined;
  }
}

function endOfToken(text: string, at: number, char: string): TokenEnd {
  if (char === '"') return endOfString(text, at + 1);
  return '{}[],:'.includes(char) ? { state: 'whole', end: at + 1 } : endOfScalar(text, at);
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (isBlank(text.charCodeAt(at))) at += 1;
  return at;
}

/** What JSON calls white space. */
function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}
