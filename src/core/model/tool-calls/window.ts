// Owns reading from text that may still grow, and its tags. Every read that touches the end of an unfinished text sets `starved`; a reader's
// answer counts only while it is false, so readers never think about streaming, and an answer once given cannot change. `find` remembers, so repeated
// searches for one needle stay linear. Closing tags are read in any damaged spelling.

const IDENTIFIER = /[\p{L}\p{N}_$.\-/:]/u;
const MAX_IDENTIFIER = 160;
const NEWLINE = 10;

/** True for space, tab, line breaks, NBSP and the zero-width marks that models leak between tokens. */
export function isSpaceCode(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x200b || code === 0xfeff;
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

function isIdentifierCode(code: number): boolean {
  if (code >= 128) return IDENTIFIER.test(String.fromCharCode(code));
  return isLetter(code) || (code >= 45 && code <= 58) || code === 95 || code === 36;
}

export class TextWindow {
  readonly text: string;
  readonly final: boolean;
  starved = false;
  readonly #found = new Map<string, { from: number; at: number }>();

  constructor(text: string, final: boolean) {
    this.text = text;
    this.final = final;
  }

  /** UTF-16 code at `index`, or -1 at the end. */
  code(index: number): number {
    return this.isEnd(index) ? -1 : this.text.charCodeAt(index);
  }

  char(index: number): string {
    return this.isEnd(index) ? '' : this.text.charAt(index);
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
    const isKnown = memo !== undefined && memo.from <= from && (memo.at === -1 || memo.at >= from);
    const at = isKnown ? memo.at : this.text.indexOf(needle, from);
    if (!isKnown) this.#found.set(needle, { from, at });
    if (at === -1) this.isEnd(this.text.length);
    return at;
  }

  /** First index at or after `index` that holds no white space (the length of the text if there is none). */
  skipSpace(index: number): number {
    return this.#skip(index, -1);
  }

  /** Like skipSpace, but stays on the line. */
  skipBlank(index: number): number {
    return this.#skip(index, NEWLINE);
  }

  #skip(index: number, barrier: number): number {
    let at = index;
    for (; at < this.text.length; at += 1) {
      const code = this.text.charCodeAt(at);
      if (code === barrier || !isSpaceCode(code)) return at;
    }
    this.isEnd(at);
    return at;
  }

  /** The identifier (letters, digits, `_ $ . - / :`) that starts at `index`; empty if there is none or it is too long. */
  identifier(index: number): string {
    let at = index;
    const limit = index + MAX_IDENTIFIER;
    while (at < limit && at < this.text.length && isIdentifierCode(this.text.charCodeAt(at))) at += 1;
    this.isEnd(at);
    return at >= limit ? '' : this.text.slice(index, at);
  }

  /** True when nothing follows `index`; on an unfinished text that is not known yet. */
  isEnd(index: number): boolean {
    if (index < this.text.length) return false;
    if (!this.final) this.starved = true;
    return true;
  }

  /** Index of the line break at or after `index`, or the end of the text. */
  lineEnd(index: number): number {
    const at = this.find('\n', index);
    return at === -1 ? this.text.length : at;
  }

  /** Behind the run of the character at `index`. */
  runEnd(index: number): number {
    const code = this.code(index);
    let end = index;
    while (code !== -1 && this.code(end) === code) end += 1;
    return end;
  }

  slice(from: number, to: number): string {
    return this.text.slice(from, to);
  }
}

export interface Tag {
  /** Normalised: lower case, without pipes, slashes, vendor prefix and the DSML mark. */
  readonly name: string;
  readonly closing: boolean;
  /** True for `<|…|>` and `[…]` spellings, that no prose or HTML uses. */
  readonly special: boolean;
  /** Value after `name=` (`<function=get_weather>`), else ''. */
  readonly value: string;
  readonly attributes: string;
  /** How a closing tag of this one is spelled. */
  readonly closer: string;
  readonly end: number;
}

const MAX_TAG = 240;
const MAX_BRACKET = 48;
const PIPES = /[|\uff5c]/g;
const BRACKET_CHAR = /[A-Z_ /]/;
const BRACKET_TAG = /^\[\/?[A-Z][A-Z_ ]*\]$/;
const LOWER_BRACKETS = ['tool_call', 'tool_calls', 'function_call'].flatMap((name) => [`[${name}]`, `[/${name}]`]);
/** `< tool_call >`: only names that prose does not put between such signs. */
const SPACED = /^(?:tool|function|arg)_/i;
/** `seed:think`, `minimax:tool_call`: the vendor does not change the meaning. */
const NAMESPACE = /^[a-z]\w*:(?=[a-z_])/;
const NAME = /^([\p{L}_$][\p{L}\p{N}_$:\-.]*)\s*(?:=\s*("[^"]*"|'[^']*'|[^\s>]*))?/u;

export function readTag(win: TextWindow, pos: number): Tag | null {
  const char = win.char(pos);
  if (char === '<') return readAngle(win, pos);
  return char === '[' ? readBracket(win, pos) : null;
}

function readBracket(win: TextWindow, pos: number): Tag | null {
  const lower = LOWER_BRACKETS.find((spelling) => win.startsWith(spelling, pos));
  let at = pos + 1;
  while (lower === undefined && at - pos < MAX_BRACKET && BRACKET_CHAR.test(win.char(at))) at += 1;
  const raw = lower ?? win.slice(pos, at + 1);
  if (lower === undefined && (win.char(at) !== ']' || !BRACKET_TAG.test(raw))) return null;
  const closing = raw.startsWith('[/');
  const inner = raw.slice(closing ? 2 : 1, -1);
  const name = inner.trim().toLowerCase().replaceAll(' ', '_');
  return { name, closing, special: true, value: '', attributes: '', closer: `[/${inner}]`, end: pos + raw.length };
}

function readAngle(win: TextWindow, pos: number): Tag | null {
  const start = tagStart(win, pos);
  if (!/[\p{L}_/|\uff5c]/u.test(win.char(start))) return null;
  for (let at = start; at < start + MAX_TAG; at += 1) {
    const char = win.char(at);
    if (char === '' || char === '<') return null;
    if (!/[>\n{]/.test(char)) continue;
    const end = char === '>' ? at + 1 : oddEnd(win, start, at);
    return end === -1 ? null : parseInner(win.slice(start, at), end);
  }
  return null;
}

/** Where the inside of the tag begins. */
function tagStart(win: TextWindow, pos: number): number {
  if (win.char(pos + 1) !== ' ') return pos + 1;
  const slash = win.char(pos + 2) === '/' ? pos + 3 : pos + 2;
  return SPACED.test(win.identifier(win.char(slash) === ' ' ? slash + 1 : slash)) ? pos + 2 : pos + 1;
}

/** The end of `<tool_call\n>`, and of `<parameter=city\n` and `<function=name{"a": 1}</function>`, whose `>` the model forgot; or -1. */
function oddEnd(win: TextWindow, start: number, at: number): number {
  const text = win.slice(start, at);
  if (/^function=/.test(text) || (win.char(at) === '\n' && /^parameter=[\w.-]+$/.test(text))) return at;
  if (win.char(at) === '{' || !/^\/?[\w:]+\s*$/.test(text)) return -1;
  const next = win.skipSpace(at);
  return win.char(next) === '>' ? next + 1 : -1;
}

function parseInner(text: string, end: number): Tag | null {
  const piped = /^[|\uff5c]/.test(text);
  const pipeEnds = /[|\uff5c]$/.test(text);
  const plain = text
    .replace(PIPES, ' ')
    .replace(/^[\s/]+/, '')
    .replace(/^DSML\s*/i, '')
    .trim()
    .replace(/ (?=[\w ]+$)/g, text.includes('\uff5c') && !text.includes('=') ? '_' : ' ');
  const match = NAME.exec(plain.replaceAll('\u2581', '_'));
  if (!match) return null;
  const [whole, rawName = '', value = ''] = match;
  const head = /^[|\uff5c\s/]*(?:DSML[|\uff5c]+)?/i.exec(text)?.[0].replaceAll('/', '') ?? '';
  return {
    name: rawName.toLowerCase().replace(NAMESPACE, ''),
    closing: /^[|\uff5c]?\s*\//.test(text) || (!piped && pipeEnds && !text.includes('=')),
    special: piped || pipeEnds,
    value: value
      .replace(/^["']|["']$/g, '')
      .replace(/[/,(:;]+$/, '')
      .trim(),
    attributes: plain.slice(whole.length).trim(),
    closer: `</${head}${rawName}>`,
    end,
  };
}

/** Value of one attribute of a tag, quoted or not; '' if it is absent. */
export function attribute(tag: Tag, names: readonly string[]): string {
  for (const name of names) {
    const given = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>/]+))`, 'i').exec(
      tag.attributes,
    );
    if (given) return given.slice(1).find((value) => value !== undefined) ?? '';
  }
  return '';
}

const MAX_CLOSER = 48;
const CALLISH = /tool|func|invo|call|param|arg|action|request|plugin/;
/** Letters, `_`, `-`, `:` and the bars of special tokens. */
const CLOSER_NAME = /[A-Za-z_\-:|\uff5c]/;

export interface DamagedCloser {
  /** Letters of the name only, lower case. */
  readonly word: string;
  readonly end: number;
}

/** The closing tag, whole or damaged, at `pos`: `</`, a name, and `>` or what stands for it; else null. */
export function readDamagedCloser(win: TextWindow, pos: number): DamagedCloser | null {
  const start = closerStart(win, pos);
  if (start === -1) return null;
  let at = start;
  while (at < pos + MAX_CLOSER && CLOSER_NAME.test(win.char(at))) at += 1;
  const word = lettersOf(win.slice(start, at));
  if (word === '') return null;
  const end = closerEnd(win, at);
  return end === -1 ? null : { word, end };
}

/** Behind `</`, `<\\/` or `< /`, or -1. */
function closerStart(win: TextWindow, pos: number): number {
  if (win.char(pos) !== '<') return -1;
  let at = pos + 1;
  while (win.char(at) === ' ' && at < pos + 3) at += 1;
  if (win.char(at) === '\\') at += 1;
  if (win.char(at) !== '/') return -1;
  while (win.char(at) === '/' || (win.char(at) === ' ' && at < pos + 6)) at += 1;
  return at;
}

function lettersOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z]/g, '')
    .replace(/^dsml/, '');
}

/** Behind the end of the tag; a missing `>` is forgiven at a line's or the text's end and before the next tag. */
function closerEnd(win: TextWindow, nameEnd: number): number {
  const at = win.skipBlank(nameEnd);
  const char = win.char(at);
  if (char === '>') return at + 1;
  if (/[|\])}/]/.test(char)) return win.char(at + 1) === '>' ? at + 2 : at + 1;
  return char === '' || char === '\n' || char === '<' ? at : -1;
}

/** The name of a tag that closes something of a call, in any spelling. */
export function isCallWord(word: string): boolean {
  return CALLISH.test(word);
}

/** `word` is `wanted` cut short, or spelled with at most two letters wrong. */
export function resembles(word: string, wanted: string): boolean {
  const letters = lettersOf(wanted);
  if (word === letters) return true;
  if (letters.startsWith(word)) return word.length >= Math.min(3, letters.length);
  return letters.length >= 6 && Math.abs(word.length - letters.length) <= 2 && distance(word, letters) <= 2;
}

/** Edit distance; both words are short. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
