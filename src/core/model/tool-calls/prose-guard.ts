/**
 * Owns the rules that keep prose from being taken for a call. Quoted = in inline code, in a block quote, or between equal
 * quotation marks: never a call. A call in a container counts anywhere else, but for one in the middle of a sentence that
 * announces an example. A call without one (bare JSON, fence, list of Python calls, `name {…}`) must stand on its own
 * line(s) or end the message, outside list items, with no phrase before it that announces an example.
 */
import type { Match, MatchContext } from './families/match.ts';
import { readTag } from './reading/tag.ts';
import type { TextWindow } from './reading/text-window.ts';
import { HARD_CUES, SOFT_CUES } from './tables/example-cues.ts';
import { tagRole } from './tables/tag-roles.ts';

const LIST_ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/;
const BLOCK_QUOTE = /^\s*>(?!>)/;
const QUOTES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '\u201c': '\u201d',
  '\u2018': '\u2019',
  '\u00ab': '\u00bb',
};
const RESULT_LABEL =
  /^\W{0,3}(?:observation|tool[ _](?:result|response|output)|function[ _](?:result|response|output))\b|^✿(?:result|return)✿/i;
const MESSAGE_ENDERS = new Set(['noise', 'turn', 'call-close', 'result']);
const LINE_ENDERS = new Set([...MESSAGE_ENDERS, 'call-open']);

/** True when the text from the current position to `end` is quoted. */
export function isQuoted({ win, prose }: MatchContext, end: number): boolean {
  if (BLOCK_QUOTE.test(prose.line)) return true;
  if (prose.inlineRun > 0 && closesInline(win, end, prose.inlineRun)) return true;
  const quote = QUOTES[prose.line.at(-1) ?? ''];
  return quote !== undefined && win.char(end) === quote;
}

function closesInline(win: TextWindow, end: number, run: number): boolean {
  const line = win.slice(end, win.lineEnd(end));
  return [...line.matchAll(/`+/g)].some(([ticks]) => ticks.length === run);
}

/** For a call in a container: quoted, or an example in mid-sentence. */
export function isContainedExample(context: MatchContext, end: number): boolean {
  if (isQuoted(context, end)) return true;
  if (context.prose.atLineStart)
    return announces(context.prose.lastLine, HARD_CUES) && !context.prose.afterCall && isTight(context);
  return announces(context.prose.line, HARD_CUES) && continues(context, end);
}

/** The announcing line ends with a colon: what follows is what it announces. */
function isTight({ prose }: MatchContext): boolean {
  return /[:：]\W*$/.test(prose.lastLine);
}

/** For a call without container that spans from the current position to `end`. */
export function standsAlone(context: MatchContext, end: number): boolean {
  const { prose } = context;
  if (isQuoted(context, end)) return false;
  if (prose.afterCall && prose.atLineStart) return endsLine(context, end);
  if (announcesExample(context)) return false;
  return prose.atLineStart ? endsLine(context, end) : endsMessage(context.win, end) && !LIST_ITEM.test(prose.line);
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
  const sentences = line.trim().split(/(?<=[.!?])\s+(?=[A-Z])/);
  const last = sentences.at(-1) ?? '';
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

/** Words follow on the same line. */
function continues({ win }: MatchContext, end: number): boolean {
  return /^\s*[\p{L},;]/u.test(win.slice(end, win.lineEnd(end)));
}

function endsLine({ win }: MatchContext, end: number): boolean {
  const blank = win.skipBlank(end);
  // A full stop or a comma behind the call is the model's habit, not a sentence.
  const at = /[.;,]/.test(win.char(blank)) ? win.skipBlank(blank + 1) : blank;
  const char = win.char(at);
  if (char === '' || char === '\n') return true;
  const tag = char === '<' || char === '[' ? readTag(win, at) : null;
  return tag !== null && LINE_ENDERS.has(tagRole(tag.name));
}

/** Nothing follows but white space, leaked tokens, closers or an invented result. */
export function endsMessage(win: TextWindow, end: number): boolean {
  const at = win.skipSpace(end);
  if (win.isEnd(at)) return true;
  const char = win.char(at);
  if (char === '<' || char === '[') {
    const tag = readTag(win, at);
    return tag !== null && MESSAGE_ENDERS.has(tagRole(tag.name));
  }
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
  while (end < at + length) {
    const char = win.char(end);
    if (char === '') break;
    end += 1;
    if (char === ':' || char === '\n' || (char === ']' && end > at + 1)) break;
  }
  return win.slice(at, end);
}

/** Content as it is, past a candidate that was refused, so that its inside is not tried again. */
export function asText(end: number): Match {
  return { kind: 'text', end };
}
