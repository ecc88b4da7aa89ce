/**
 * Owns reading one tag or special token: `<name …>`, `</name>`, `<|name|>`, `<｜name｜>`, `<|name>`, `<name|>`, `[NAME]`.
 * All spellings come out alike, so that a wrong special token still finds its meaning. Does not know what a name means.
 * A tag is at most 240 characters, on one line, with no `<` inside.
 */
import type { TextWindow } from './text-window.ts';

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
const BRACKET_TAG = /^\[\/?[A-Z][A-Z_ ]*\]$/;
const LOWER_BRACKETS = ['tool_call', 'tool_calls', 'function_call'].flatMap((name) => [`[${name}]`, `[/${name}]`]);
/** `seed:think`, `minimax:tool_call`: the vendor does not change the meaning. */
/** `< tool_call >`: only names that prose does not put between such signs. */
const SPACED = /^(?:tool|function|arg)_/i;
const NAMESPACE = /^[a-z]\w*:(?=[a-z_])/;
const NAME = /^([\p{L}_$][\p{L}\p{N}_$:\-.]*)\s*(?:=\s*("[^"]*"|'[^']*'|[^\s>]*))?/u;

export function readTag(win: TextWindow, pos: number): Tag | null {
  const char = win.char(pos);
  if (char === '<') return readAngle(win, pos);
  return char === '[' ? readBracket(win, pos) : null;
}

function readBracket(win: TextWindow, pos: number): Tag | null {
  const lower = LOWER_BRACKETS.find((spelling) => win.startsWith(spelling, pos));
  if (lower !== undefined) return bracketTag(lower, pos);
  let at = pos + 1;
  while (at - pos < MAX_BRACKET && isBracketCode(win.code(at))) at += 1;
  if (win.code(at) !== 93) return null;
  const raw = win.slice(pos, at + 1);
  return BRACKET_TAG.test(raw) ? bracketTag(raw, pos) : null;
}

function bracketTag(raw: string, pos: number): Tag {
  const closing = raw.startsWith('[/');
  const inner = raw.slice(closing ? 2 : 1, -1);
  const name = inner.trim().toLowerCase().replaceAll(' ', '_');
  return { name, closing, special: true, value: '', attributes: '', closer: `[/${inner}]`, end: pos + raw.length };
}

function isBracketCode(code: number): boolean {
  return (code >= 65 && code <= 90) || code === 95 || code === 32 || code === 47;
}

function readAngle(win: TextWindow, pos: number): Tag | null {
  const start = tagStart(win, pos);
  const first = win.char(start);
  if (!/[\p{L}_/|\uff5c]/u.test(first)) return null;
  const inner = readInner(win, start);
  return inner === null ? null : parseInner(inner.text, inner.end);
}

/** Where the inside of the tag begins. */
function tagStart(win: TextWindow, pos: number): number {
  if (win.char(pos + 1) !== ' ') return pos + 1;
  const slash = win.char(pos + 2) === '/' ? pos + 3 : pos + 2;
  return SPACED.test(win.identifier(win.char(slash) === ' ' ? slash + 1 : slash)) ? pos + 2 : pos + 1;
}

function readInner(win: TextWindow, start: number): { text: string; end: number } | null {
  for (let at = start; at < start + MAX_TAG; at += 1) {
    const char = win.char(at);
    if (char === '>') return { text: win.slice(start, at), end: at + 1 };
    if (char === '' || char === '<') return null;
    if (char === '\n' || char === '{') return endsOddly(win, start, at);
  }
  return null;
}

/** `<tool_call\n>`; `<parameter=city\n` and `<function=name{"a": 1}</function>`, whose `>` the model forgot. */
function endsOddly(win: TextWindow, start: number, at: number): { text: string; end: number } | null {
  const text = win.slice(start, at);
  if (/^function=/.test(text) || (win.char(at) === '\n' && /^parameter=[\w.-]+$/.test(text))) return { text, end: at };
  if (win.char(at) === '{' || !/^\/?[\w:]+\s*$/.test(text)) return null;
  const next = win.skipSpace(at);
  return win.char(next) === '>' ? { text, end: next + 1 } : null;
}

function parseInner(text: string, end: number): Tag | null {
  const piped = /^[|\uff5c]/.test(text);
  const closing =
    text.startsWith('/') || /^[|\uff5c]\s*\//.test(text) || (!piped && /[|\uff5c]$/.test(text) && !text.includes('='));
  const plain = text
    .replace(PIPES, ' ')
    .replace(/^[\s/]+/, '')
    .replace(/^DSML\s*/i, '')
    .trim()
    .replace(/ (?=[\w ]+$)/g, text.includes('\uff5c') && !text.includes('=') ? '_' : ' ');
  const match = NAME.exec(plain.replaceAll('\u2581', '_'));
  if (!match) return null;
  const rawName = match[1] ?? '';
  const value = (match[2] ?? '')
    .replace(/^["']|["']$/g, '')
    .replace(/[/,(:;]+$/, '')
    .trim();
  const head = /^[|\uff5c\s/]*(?:DSML[|\uff5c]+)?/i.exec(text)?.[0].replaceAll('/', '') ?? '';
  return {
    name: rawName.toLowerCase().replace(NAMESPACE, ''),
    closing,
    special: piped || /[|\uff5c]$/.test(text),
    value,
    attributes: plain.slice(match[0].length).trim(),
    closer: `</${head}${rawName}>`,
    end,
  };
}

/** Value of one attribute of a tag, quoted or not; '' if it is absent. */
export function attribute(tag: Tag, names: readonly string[]): string {
  for (const name of names) {
    const match = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>/]+))`, 'i').exec(
      tag.attributes,
    );
    if (match) return match[1] ?? match[2] ?? match[3] ?? '';
  }
  return '';
}
