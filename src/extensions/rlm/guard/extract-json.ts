// Owns finding the one JSON value in a model's reply: bare, fenced, behind a preface, before further prose. Knows no schema.
// A piece of a reply that was cut off is never taken for the reply. Invariant: never throws, linear in the text, also on 10 MB.
// Seed 003, notes 4 (lenient extraction), with strings read as strings.
import { type JsonValue, parseJson } from '#base/json.ts';

export type ExtractFailure =
  /** Nothing but white space, or no text at all. */
  | 'empty'
  /** Prose without an object. */
  | 'no_json'
  /** An object begins and the text ends before it does. */
  | 'truncated'
  /** What looks like an object is none. */
  | 'invalid_json'
  /** Nested more than 1,000 deep. */
  | 'too_deep';

export type Extracted =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly reason: ExtractFailure };

/** The whole text, else a fenced block that is JSON as a whole, else the first object in the prose; of duplicate keys the last counts. */
export function extractJson(text: string): Extracted {
  const reply = typeof text === 'string' ? text.replace(/^\uFEFF/, '').trim() : '';
  if (reply === '') return { ok: false, reason: 'empty' };
  const whole = parseWhole(reply);
  if (whole !== undefined) return whole;
  for (const block of fencedBlocks(reply)) {
    const fenced = parseWhole(block.trim());
    if (fenced?.ok) return fenced;
  }
  return firstObject(reply);
}

/** Undefined: something else stands in the text too, or it is no JSON. */
function parseWhole(text: string): Extracted | undefined {
  if (!/^[{[]/.test(text)) return /^["\-\dtfn]/.test(text) ? parsed(text) : undefined;
  const { state, end } = findEnd(text, 0);
  if (state === 'too_deep') return { ok: false, reason: state };
  if (state !== 'whole' || (text[0] === '[' && end < text.length)) return undefined;
  return parsed(text.slice(0, end));
}

function parsed(text: string): Extracted | undefined {
  const result = parseJson(text);
  return result.ok ? { ok: true, value: result.value } : undefined;
}

/** What stands between lines that begin with three back-ticks; the last block may be open. */
function* fencedBlocks(text: string): Generator<string> {
  const fences = [...text.matchAll(/^[ \t]*```/gm)].map(({ index }) => index);
  for (let at = 0; at < fences.length; at += 2) {
    const line = text.indexOf('\n', fences[at]);
    if (line >= 0) yield text.slice(line + 1, fences[at + 1]);
  }
}

/** Of JSON, nothing of it being there yet, or of what a model means as JSON. A brace of prose has no key behind it. */
const BEGINS = /\{\s*(?:["}]|$)/y;
const MEANT = /\{\s*(?:'|[\w$-]{1,64}\s*:)/y;

function beginsAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

/** What was meant as the reply and is none ends the search: nothing behind or inside of it is the reply. */
function firstObject(text: string): Extracted {
  let at = text.indexOf('{');
  const isProse = () => at >= 0 && !beginsAt(BEGINS, text, at) && !beginsAt(MEANT, text, at);
  const reason = at < 0 ? 'no_json' : 'invalid_json';
  while (isProse()) at = text.indexOf('{', at + 1);
  if (at < 0 || !beginsAt(BEGINS, text, at)) return { ok: false, reason };
  const { state, end } = findEnd(text, at);
  const found = state === 'whole' ? parsed(text.slice(at, end)) : undefined;
  return found ?? { ok: false, reason: state === 'whole' || state === 'wrong' ? 'invalid_json' : state };
}

interface Found {
  /** `truncated`: the text ends before the value does. `wrong`: at `end` stands what no JSON holds. */
  readonly state: 'whole' | 'truncated' | 'wrong' | 'too_deep';
  /** Behind the value, or where it went wrong. */
  readonly end: number;
}

/** What walks through a value recursively later stays well within any stack. */
const DEEPEST = 1_000;

/** The end of the value that `{` or `[` at `start` begins, by its brackets and strings; whether it is JSON the parser says. */
function findEnd(text: string, start: number): Found {
  /** The closing mark of each open bracket. */
  const open: string[] = [];
  for (let at = start; at < text.length; ) {
    const char = text[at] ?? '';
    const end = endOfToken(text, at, char);
    if (end === undefined || !takeBracket(open, char)) return { state: 'wrong', end: at + 1 };
    if (open.length === 0) return { state: 'whole', end };
    if (open.length > DEEPEST) return { state: 'too_deep', end };
    at = end;
  }
  return { state: 'truncated', end: text.length };
}

const CLOSING: ReadonlyMap<string, string> = new Map([
  ['{', '}'],
  ['[', ']'],
]);

/** False: it closes another than is open. */
function takeBracket(open: string[], char: string): boolean {
  const closing = CLOSING.get(char);
  if (closing !== undefined) open.push(closing);
  return closing !== undefined || (char !== '}' && char !== ']') || open.pop() === char;
}

/** Undefined: no JSON holds it. */
function endOfToken(text: string, at: number, char: string): number | undefined {
  if (char === '"') return endOfString(text, at);
  return /[\s:,{}[\]]/.test(char) ? at + 1 : endOfWord(text, at);
}

const LITERAL = /^(?:true|false|null|-?\d[\d.eE+-]*)$/;
/** A longer number is left to the parser. */
const SHORT = 64;
const WORD_END = /[^\w+.-]|$/g;

/** Of `true`, `12e-3`; what the end of the text cuts may be one. */
function endOfWord(text: string, at: number): number | undefined {
  WORD_END.lastIndex = at;
  const end = Math.max(at + 1, WORD_END.exec(text)?.index ?? text.length);
  return end === text.length || end - at > SHORT || LITERAL.test(text.slice(at, end)) ? end : undefined;
}

/** Behind the closing mark: the first that no odd number of backslashes stands before. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slash = at - 1;
    while (text[slash] === '\\') slash -= 1;
    if ((at - slash) % 2 === 1) return at + 1;
  }
  return text.length;
}
