// Owns finding the one JSON value in a model's reply: bare, fenced, behind a preface, before further prose. Knows no schema.
// A piece of a reply that was cut off is never taken for the reply. Invariant: never throws, linear in the text, also on 10 MB.
// Seed 003, notes 4 (lenient extraction), with strings read as strings.
import { type JsonValue, parseJson } from '#base/json.ts';
import { scanJson } from './scan-json.ts';

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
  if (whole) return whole;
  for (const block of fencedBlocks(reply)) {
    const fenced = parseWhole(block.trim());
    if (fenced?.ok) return fenced;
  }
  return firstObject(reply);
}

/** Undefined: something else stands in the text too, or it is no JSON. */
function parseWhole(text: string): Extracted | undefined {
  if (!/^[{[]/.test(text)) return /^["\-\dtfn]/.test(text) ? parsed(text) : undefined;
  const { state, end } = scanJson(text, 0);
  if (state === 'deep') return { ok: false, reason: 'too_deep' };
  if (state !== 'whole' || (text[0] === '[' && end < text.length)) return undefined;
  return parsed(text.slice(0, end));
}

function parsed(text: string): Extracted | undefined {
  const result = parseJson(text);
  return result.ok ? { ok: true, value: result.value } : undefined;
}

/** What stands between lines that begin with three back-ticks; the last block may be open. */
function* fencedBlocks(text: string): Generator<string> {
  for (let open = nextFence(text, 0); open >= 0; ) {
    const line = text.indexOf('\n', open);
    if (line < 0) return;
    const close = nextFence(text, line);
    yield text.slice(line + 1, close < 0 ? undefined : close);
    open = close < 0 ? -1 : nextFence(text, close + 3);
  }
}

const FENCE = '```';

function nextFence(text: string, from: number): number {
  for (let at = text.indexOf(FENCE, from); at >= 0; at = text.indexOf(FENCE, at + FENCE.length)) {
    let before = at - 1;
    while (text[before] === ' ' || text[before] === '\t') before -= 1;
    if (before < 0 || text[before] === '\n') return at;
  }
  return -1;
}

function firstObject(text: string): Extracted {
  let reason: ExtractFailure = 'no_json';
  for (let at = text.indexOf('{'); at >= 0; ) {
    const { state, end } = scanJson(text, at);
    if (state === 'open') return { ok: false, reason: 'truncated' };
    if (state === 'deep') return { ok: false, reason: 'too_deep' };
    const found = state === 'whole' ? parsed(text.slice(at, end)) : undefined;
    if (found) return found;
    reason = 'invalid_json';
    if (beginsLikeOne(text, at)) break;
    at = text.indexOf('{', end);
  }
  return { ok: false, reason };
}

const KEY = /\{\s*(?:["']|[\w$-]{1,64}\s*:)/y;

/** A brace of prose has no key behind it; what has one was meant as the reply, and nothing behind or inside of it is. */
function beginsLikeOne(text: string, at: number): boolean {
  KEY.lastIndex = at;
  return KEY.test(text);
}
