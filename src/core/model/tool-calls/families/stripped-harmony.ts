/**
 * Owns gpt-oss channels whose special tokens a server has stripped: `commentary to=functions.name json{…}`, and
 * `analysis…assistantfinal…`, where the words stand glued to the text. Strict: the recipient is a declared tool and its
 * object can be read; analysis counts only at the message's start and where another channel follows.
 */
import { announcesExample, isQuoted } from '../prose-guard.ts';
import { lacksArguments } from '../reading/call-of-value.ts';
import { readValue } from '../reading/value-reader.ts';
import { isRecord } from '../tool-catalog.ts';
import { foundOf, isStopAt, type Match, type MatchContext } from './match.ts';

const MAX_HEAD = 200;
const CHANNELS = '(?:analysis|commentary|final)';
const HEAD = new RegExp(
  `^(?:assistant)?\\s*${CHANNELS}?[ \\t]*to=[ \\t]*([\\w.:/-]+?)[ \\t]*${CHANNELS}?[ \\t]*(?:code|json)?\\s*$`,
);
const FIRST_WORDS = new Set(['assistantcommentary', 'commentary', 'assistantanalysis', 'analysis', 'assistant', 'to']);
const ANALYSIS = /^(?:assistant)?analysis(?=[^\sa-z])/;
const FINAL = 'assistantfinal';
const NEXT = ['assistantcommentary'];

/** At the start of a line, or behind text at `commentary to=`. */
export function matchStrippedCall(context: MatchContext, pos: number): Match | null {
  const { win, catalog } = context;
  if (!FIRST_WORDS.has(win.identifier(pos))) return null;
  const open = objectStart(context, pos);
  const written = open === -1 ? undefined : HEAD.exec(win.slice(pos, open))?.[1];
  const tool = written === undefined ? null : catalog.resolve(written);
  if (!tool || written === undefined) return null;
  const read = readValue(win, open, { isStop: (at) => isStopAt(win, at) || win.startsWith('<|', at) });
  if (!read.ok || !isRecord(read.value) || isQuoted(context, read.end) || announcesExample(context)) return null;
  const call = { written, tool, arguments: read.value };
  if (read.cut && lacksArguments(call)) return null;
  return { kind: 'calls', end: read.end, found: [foundOf(call, win.slice(pos, read.end))] };
}

/** Index of the `{` that ends the header at `pos`, or -1. */
function objectStart({ win }: MatchContext, pos: number): number {
  for (let at = pos; at < pos + MAX_HEAD; at += 1) {
    const char = win.char(at);
    if (char === '{') return at;
    if (char === '' || char === '<') return -1;
  }
  return -1;
}

/** `analysisWe need …`, at the start of a line. */
export function matchStrippedAnalysis({ win, prose }: MatchContext, pos: number): Match | null {
  if (prose.afterCall && win.startsWith(FINAL, pos)) return { kind: 'drop', end: pos + FINAL.length };
  if (prose.hasText || (win.char(pos) !== 'a' && win.char(pos) !== 'A')) return null;
  win.code(pos + 20);
  const head = ANALYSIS.exec(win.slice(pos, pos + 20))?.[0];
  if (head === undefined) return null;
  const goesOn = [FINAL, ...NEXT].some((mark) => win.find(mark, pos + head.length) !== -1);
  return goesOn ? { kind: 'reasoning', end: pos + head.length, closers: [FINAL], stops: NEXT } : null;
}
