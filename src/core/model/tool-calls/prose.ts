// Owns what a matcher gets and may answer, what the parser remembers of the content that it has passed, and the rules that keep prose from being
// taken for a call. A matcher looks at one position and says what stands there, or null; it keeps no state and never decides about streaming
// (the window does). Quoted = in inline code, in a block quote, or between equal quotation marks: never a call. A call in a container counts
// anywhere else, but for one in the middle of a sentence that announces an example. A call without one (bare JSON, fence, list of Python calls,
// `name {…}`) must stand on its own line(s) or end the message, outside list items, with no phrase before it that announces an example.
import { sentencesOf } from '#base/text/sentences.ts';
import {
  type Found,
  lacksArguments,
  type MalformedReason,
  type ToolCatalog,
  type WrittenCall,
} from './call-of-value.ts';
import { HARD_CUES, SOFT_CUES, tagRole } from './tables.rules.ts';
import { readTag, type TextWindow } from './window.ts';

export interface MatchContext {
  readonly win: TextWindow;
  readonly catalog: ToolCatalog;
  readonly prose: ProseContext;
}

export interface CallsMatch {
  readonly kind: 'calls';
  readonly end: number;
  readonly found: readonly Found[];
  readonly keep?: boolean;
}

/**
 * `calls`: calls and malformed attempts, removed from the text unless `keep`. `drop`: a leaked token. `reasoning`: reasoning begins and
 * lasts to one of `closers` (or, kept in the text, `stops`). `reclassify`: all so far was reasoning. `result`: an invented tool result. `foreign-turn`:
 * the model goes on as somebody else. `code`: text up to `end`, then a code block until its `fence` closes. `text`: as it is.
 */
export type Match =
  | CallsMatch
  | { readonly kind: 'drop' | 'reclassify' | 'result' | 'foreign-turn' | 'text'; readonly end: number }
  | {
      readonly kind: 'reasoning';
      readonly end: number;
      readonly closers: readonly string[];
      readonly stops?: readonly string[];
    }
  | { readonly kind: 'code'; readonly end: number; readonly fence: string };

export type Matcher = (context: MatchContext, pos: number) => Match | null;

export type ReadUnit = { readonly ok: true; readonly calls: readonly WrittenCall[]; readonly end: number };
export type BrokenUnit = { readonly ok: false; readonly truncated: boolean; readonly written: string | null };
/** What a reader of one call (or list of calls) found; null means that no call begins there. */
export type UnitRead = ReadUnit | BrokenUnit | null;

export function broken(truncated: boolean, written: string | null = null): BrokenUnit {
  return { ok: false, truncated, written };
}

/** One call; where the text was cut off (`cut`) before all that it requires was there, none. */
export function unitOf(call: WrittenCall, end: number, cut = false): ReadUnit | BrokenUnit {
  return cut && lacksArguments(call) ? broken(true, call.written) : { ok: true, calls: [call], end };
}

const RAW_LIMIT = 2_000;
const STOP_ROLES = new Set(['call-open', 'call-close', 'noise', 'turn', 'result']);

/** The match of calls that were read from `pos` to `end`. */
export function callsMatch({ win }: MatchContext, pos: number, calls: readonly WrittenCall[], end: number): Match {
  return { kind: 'calls', end, found: calls.map((call) => foundOf(call, win.slice(pos, end))) };
}

export function foundOf(call: WrittenCall, raw: string): Found {
  if (call.tool) return { kind: 'call', call: { name: call.tool.name, arguments: call.arguments } };
  return malformed('unknown-tool', call.written, raw);
}

export function malformed(reason: MalformedReason, name: string | null, raw: string): Found {
  return { kind: 'malformed', malformed: { reason, name, raw: raw.slice(0, RAW_LIMIT) } };
}

/** An attempt that cannot be read, or that the end of the text cut off. */
export function attempt(truncated: boolean, name: string | null, raw: string): Found {
  return malformed(truncated ? 'truncated' : 'unparsable', name, raw);
}

const NAMED = /["']?(?:name|tool_name|function|tool|action)["']?\s*:\s*["']([^"'\n]{1,100})["']/;

/** The name in a call object that cannot be read as a whole, or null. */
export function writtenName(raw: string): string | null {
  return NAMED.exec(raw.slice(0, 300))?.[1] ?? null;
}

/** True where a tag, special token or fence stands that no value can contain: open brackets end there. */
export function isStopAt(win: TextWindow, at: number): boolean {
  const char = win.char(at);
  if (char === '`') return win.startsWith('```', at);
  if (char !== '<' && char !== '[') return false;
  // No value begins or goes on with a closing tag, however it is spelled.
  if (char === '<' && win.char(at + 1) === '/') return true;
  const tag = readTag(win, at);
  return tag !== null && (STOP_ROLES.has(tagRole(tag.name)) || (char === '<' && tag.closing));
}

/** The tag at `at` closes a container of calls. */
export function isCallCloser({ name, closing }: { readonly name: string; readonly closing: boolean }): boolean {
  const role = tagRole(name);
  return role === 'call-close' || (role === 'call-open' && closing);
}

/** Zero-width spaces are no text: models leak them. */
const TEXT = /[^\s\u200b]/;
const KEPT = 400;

export class ProseContext {
  /** The last line before it that was not blank. */
  lastLine = '';
  /** The current line up to here (its last 400 characters). */
  line = '';
  /** Nothing but white space stands on the line yet. */
  atLineStart = true;
  /** Length of the run of backticks that opened inline code on this line, 0 outside. */
  inlineRun = 0;
  hasText = false;
  calls = 0;
  /** No text since the last call. */
  afterCall = false;
  /** An invented tool result has been dropped. */
  imitated = false;

  feed(text: string): void {
    if (TEXT.test(text)) {
      this.hasText = true;
      this.afterCall = false;
    }
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) this.#breakLine();
      this.line = (this.line + part).slice(-KEPT);
      if (TEXT.test(part)) this.atLineStart = false;
      this.#feedInline(part);
    }
  }

  noteCalls(count: number): void {
    this.calls += count;
    this.afterCall = true;
  }

  #breakLine(): void {
    if (!this.atLineStart) this.lastLine = this.line;
    this.line = '';
    this.atLineStart = true;
    this.inlineRun = 0;
  }

  #feedInline(text: string): void {
    if (!text.includes('`')) return;
    for (const [run] of text.matchAll(/`+/g)) {
      if (this.inlineRun === 0) this.inlineRun = run.length;
      else if (this.inlineRun === run.length) this.inlineRun = 0;
    }
  }
}

const LIST_ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/;
const BLOCK_QUOTE = /^\s*>(?!>)/;
const QUOTES = new Map(
  ['""', "''", '\u201c\u201d', '\u2018\u2019', '\u00ab\u00bb'].map(([open, close]) => [open, close]),
);
const RESULT_LABEL =
  /^\W{0,3}(?:observation|tool[ _](?:result|response|output)|function[ _](?:result|response|output))\b|^✿(?:result|return)✿/i;
const MESSAGE_ENDERS = new Set(['noise', 'turn', 'call-close', 'result']);

/** True when the text from the current position to `end` is quoted. */
export function isQuoted({ win, prose }: MatchContext, end: number): boolean {
  if (BLOCK_QUOTE.test(prose.line)) return true;
  const { inlineRun } = prose;
  const rest = inlineRun > 0 ? win.slice(end, win.lineEnd(end)) : '';
  if (rest.match(/`+/g)?.some((ticks) => ticks.length === inlineRun)) return true;
  const quote = QUOTES.get(prose.line.at(-1));
  return quote !== undefined && win.char(end) === quote;
}

/** For a call in a container: quoted, or an example in mid-sentence. */
export function isContainedExample(context: MatchContext, end: number): boolean {
  const { win, prose } = context;
  if (isQuoted(context, end)) return true;
  if (!prose.atLineStart)
    return announces(prose.line, HARD_CUES) && /^\s*[\p{L},;]/u.test(win.slice(end, win.lineEnd(end)));
  // The announcing line ends with a colon: what follows is what it announces.
  return !prose.afterCall && /[:：]\W*$/.test(prose.lastLine) && announces(prose.lastLine, HARD_CUES);
}

/** For a call without container that spans from the current position to `end`. */
export function standsAlone(context: MatchContext, end: number): boolean {
  const { prose, win } = context;
  if (isQuoted(context, end)) return false;
  if (prose.afterCall && prose.atLineStart) return endsLine(context, end);
  if (announcesExample(context)) return false;
  return prose.atLineStart ? endsLine(context, end) : endsMessage(win, end) && !LIST_ITEM.test(prose.line);
}

/** A phrase before the current position says that an example follows. */
export function announcesExample({ prose }: MatchContext): boolean {
  if (!prose.hasText || prose.afterCall) return false;
  if (prose.atLineStart) return announces(prose.lastLine, HARD_CUES);
  // A finished sentence announces nothing softly.
  return announces(prose.line, HARD_CUES) || (!/[.!?]\s*$/.test(prose.line) && announces(prose.line, SOFT_CUES));
}

/** Only the last sentence before the call counts: a cue further up is about something else. */
function announces(line: string, cues: readonly RegExp[]): boolean {
  const last = sentencesOf(line, 'prose').at(-1) ?? '';
  return cues.some((cue) => cue.test(last));
}

const SPOKEN_OF = /^ (?:is|are|was|means?|begins?|starts?|marks?|opens?|wraps?|token|tag|and)\b/;

/** A token that a sentence speaks about: words before it, and the same sentence goes on behind `end`. */
export function isMentioned({ win, prose }: MatchContext, end: number): boolean {
  if (prose.atLineStart) return SPOKEN_OF.test(headOf(win, end, 24));
  if (prose.afterCall || !/[\p{L}\p{N},:(]\s$|\($/u.test(prose.line)) return false;
  const next = win.skipBlank(end);
  const char = win.char(next);
  if (next > end) return /[\p{Ll}(]/u.test(char);
  return /[,;)?!.]/.test(char) && /[\s)]|^$/.test(win.char(next + 1));
}

function endsLine({ win }: MatchContext, end: number): boolean {
  const blank = win.skipBlank(end);
  // A full stop or a comma behind the call is the model's habit, not a sentence.
  const at = /[.;,]/.test(win.char(blank)) ? win.skipBlank(blank + 1) : blank;
  const char = win.char(at);
  if (char === '' || char === '\n') return true;
  const role = tagRole(readTag(win, at)?.name ?? '');
  return role === 'call-open' || MESSAGE_ENDERS.has(role);
}

/** Nothing follows but white space, leaked tokens, closers or an invented result. */
export function endsMessage(win: TextWindow, end: number): boolean {
  const at = win.skipSpace(end);
  if (win.isEnd(at)) return true;
  const char = win.char(at);
  if (char === '<' || char === '[') return MESSAGE_ENDERS.has(tagRole(readTag(win, at)?.name ?? ''));
  return isResultLabel(win, at);
}

/** `Observation:`, `[Tool Result: name]` and the like at `at`. */
export function isResultLabel(win: TextWindow, at: number): boolean {
  const first = win.char(at);
  if (!/[OoTtFf[*✿]/.test(first)) return false;
  const head = headOf(win, at, 40);
  return RESULT_LABEL.test(head) && (first === '✿' || /[:\]\n]/.test(head));
}

/** Up to `length` characters, cut after the first colon, bracket or line break. */
function headOf(win: TextWindow, at: number, length: number): string {
  let end = at;
  for (let last = ''; end < at + length && !/[:\n]/.test(last) && !(last === ']' && end > at + 1); end += 1) {
    last = win.char(end);
    if (last === '') break;
  }
  return win.slice(at, end);
}

/** Content as it is, past a candidate that was refused, so that its inside is not tried again. */
export function asText(end: number): Match {
  return { kind: 'text', end };
}
