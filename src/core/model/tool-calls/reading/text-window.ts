/**
 * Owns reading from text that may still grow. Every read that touches the end of an unfinished text sets `starved`; a
 * reader's answer counts only while `starved` is false. So readers never think about streaming, and an answer once
 * given cannot change when more text comes. `find` remembers, so repeated searches for one needle stay linear.
 */

const IDENTIFIER = /[\p{L}\p{N}_$.\-/:]/u;
const MAX_IDENTIFIER = 160;

/** True for space, tab, line breaks, NBSP and the zero-width marks that models leak between tokens. */
export function isSpaceCode(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x200b || code === 0xfeff;
}

function isIdentifierCode(code: number): boolean {
  if (code < 128) {
    return (
      (code >= 97 && code <= 122) ||
      (code >= 65 && code <= 90) ||
      (code >= 45 && code <= 58) ||
      code === 95 ||
      code === 36
    );
  }
  return IDENTIFIER.test(String.fromCharCode(code));
}

interface Memo {
  from: number;
  at: number;
}

export class TextWindow {
  readonly text: string;
  readonly final: boolean;
  starved = false;
  readonly #found = new Map<string, Memo>();

  constructor(text: string, final: boolean) {
    this.text = text;
    this.final = final;
  }

  /** UTF-16 code at `index`, or -1 at the end. */
  code(index: number): number {
    if (index < this.text.length) return this.text.charCodeAt(index);
    this.#touchEnd();
    return -1;
  }

  char(index: number): string {
    if (index < this.text.length) return this.text.charAt(index);
    this.#touchEnd();
    return '';
  }

  startsWith(literal: string, index: number): boolean {
    if (this.text.startsWith(literal, index)) return true;
    const rest = this.text.length - index;
    if (!this.final && rest < literal.length && literal.startsWith(this.text.slice(index))) this.starved = true;
    return false;
  }

  /** First index of `needle` at or after `from`, else -1. */
  find(needle: string, from: number): number {
    const memo = this.#found.get(needle);
    if (memo && memo.from <= from && (memo.at === -1 || memo.at >= from)) {
      if (memo.at === -1) this.#touchEnd();
      return memo.at;
    }
    const at = this.text.indexOf(needle, from);
    this.#found.set(needle, { from, at });
    if (at === -1) this.#touchEnd();
    return at;
  }

  /** Like `find`, but only before `to`, which must lie in the text: never starves. */
  findBefore(needle: string, from: number, to: number): number {
    const { starved } = this;
    const at = this.find(needle, from);
    this.starved = starved;
    return at !== -1 && at < to ? at : -1;
  }

  /** First index at or after `index` that holds no white space (the length of the text if there is none). */
  skipSpace(index: number): number {
    let at = index;
    while (at < this.text.length && isSpaceCode(this.text.charCodeAt(at))) at += 1;
    if (at >= this.text.length) this.#touchEnd();
    return at;
  }

  /** Like skipSpace, but stays on the line. */
  skipBlank(index: number): number {
    let at = index;
    while (at < this.text.length && isSpaceCode(this.text.charCodeAt(at)) && this.text.charCodeAt(at) !== 10) at += 1;
    if (at >= this.text.length) this.#touchEnd();
    return at;
  }

  /** The identifier (letters, digits, `_ $ . - / :`) that starts at `index`; empty if there is none or it is too long. */
  identifier(index: number): string {
    let at = index;
    const limit = index + MAX_IDENTIFIER;
    while (at < limit && at < this.text.length && isIdentifierCode(this.text.charCodeAt(at))) at += 1;
    if (at >= this.text.length) this.#touchEnd();
    return at >= limit ? '' : this.text.slice(index, at);
  }

  /** True when nothing follows `index`; on an unfinished text that is not known yet. */
  isEnd(index: number): boolean {
    if (index < this.text.length) return false;
    this.#touchEnd();
    return true;
  }

  /** Index of the line break at or after `index`, or the end of the text. */
  lineEnd(index: number): number {
    const at = this.find('\n', index);
    return at === -1 ? this.text.length : at;
  }

  slice(from: number, to: number): string {
    return this.text.slice(from, to);
  }

  #touchEnd(): void {
    if (!this.final) this.starved = true;
  }
}
