// Owns the text tool-call parser: a stream (`push` and `end`, for any chunking of the text with the same result), and whole texts, which are a
// stream fed once. It walks over the text: where a matcher is tried, in which mode (content, reasoning, code block, after the turn), and what its
// answer does to content, reasoning and calls. Knows no format. Only text that is not decided yet is kept; a held candidate is looked at again with
// every chunk as long as all looks together stay within a few times the text, then only when it has grown by a quarter: linear for any chunking.
// Never throws. Serves seed 001, "Tool-calling strategies".

import { matchChevrons, matchLabelledLine, matchStrippedAnalysis, matchStrippedCall } from './announced-calls.ts';
import { matchBareValue, matchCallPrefix, matchNamedLine } from './bare-calls.ts';
import {
  createToolCatalog,
  type Found,
  type MalformedCall,
  type ParsedText,
  type TextCall,
  type TextCallEvent,
  type TextCallParser,
  type TextToolSchema,
  type ToolCatalog,
} from './call-of-value.ts';
import { type CallsMatch, isResultLabel, type Match, type MatchContext, type Matcher, ProseContext } from './prose.ts';
import { matchBareOpener, matchFence, matchToken, matchTriangle } from './tokens.ts';
import { isSpaceCode, TextWindow } from './window.ts';

/** Looks that cost up to this many characters, and eight times the text, are free. */
const EAGER = 200_000;

/** `keepAttempts` leaves attempts that cannot be run in the text, for readers of the text alone; they are reported all the same. */
export function createTextCallParser(
  tools: readonly TextToolSchema[],
  { keepAttempts = false }: { readonly keepAttempts?: boolean } = {},
): TextCallParser {
  const scanner = new CallScanner(createToolCatalog(tools), keepAttempts);
  const marks = new VendorMarkFilter();
  let held = '';
  let retryAt = 0;
  let total = 0;
  let spent = 0;
  let ended = false;
  const run = (final: boolean): TextCallEvent[] => {
    spent += held.length;
    held = held.slice(scanner.scan(new TextWindow(held, final)));
    retryAt = held.length + (held.length >> 2);
    if (final) scanner.finish();
    return scanner.takeEvents();
  };
  return {
    push: (chunk) => {
      if (ended || chunk === '') return [];
      held += marks.push(chunk);
      total += chunk.length;
      const eager = spent + held.length <= EAGER + 8 * total;
      return eager || held.length > retryAt ? run(false) : [];
    },
    end: () => {
      if (ended) return [];
      ended = true;
      held += marks.end();
      return run(true);
    },
  };
}

/** What a complete sequence of events amounts to. */
export function collectTextCalls(events: Iterable<TextCallEvent>): ParsedText {
  const calls: TextCall[] = [];
  const malformed: MalformedCall[] = [];
  let content = '';
  let reasoning = '';
  for (const event of events) {
    switch (event.type) {
      case 'text-delta':
        content += event.text;
        break;
      case 'reasoning-delta':
        reasoning += event.text;
        break;
      case 'tool-call':
        calls.push(event.call);
        break;
      case 'malformed-call':
        malformed.push(event.malformed);
        break;
      case 'reclassify':
        for (const list of [calls, malformed]) list.length = 0;
        content = '';
        reasoning = event.reasoning;
        break;
    }
  }
  return { content, reasoning, calls, malformed };
}

/** Content, reasoning, calls and malformed attempts of a complete answer. */
export function parseTextCalls(text: string, tools: readonly TextToolSchema[]): ParsedText {
  const parser = createTextCallParser(tools);
  return collectTextCalls([...parser.push(text), ...parser.end()]);
}

/**
 * The calls in a model's answer and the text around them; reasoning is left out. `tools` are OpenAI function schemas. An
 * attempt to call that cannot be read stays in the content: this caller hears of it nowhere else.
 */
export function parseTextToolCalls(
  text: string,
  tools: readonly TextToolSchema[],
): { content: string; calls: TextCall[] } {
  const parser = createTextCallParser(tools, { keepAttempts: true });
  const { content, calls } = collectTextCalls([...parser.push(text), ...parser.end()]);
  return { content, calls };
}

/** A mark that one family (MiniMax M3) puts before each of its tags, which then read as everybody else's. */
const MARK = ']<]minimax[>[';
/** A longer beginning of it is nothing else. */
const CERTAIN = 3;

/** Takes the marks out of a stream: what may be the beginning of one is held back. */
class VendorMarkFilter {
  #held = '';

  /** The text without marks, as far as it is certain. */
  push(chunk: string): string {
    if (this.#held === '' && !chunk.includes(']')) return chunk;
    const text = (this.#held + chunk).replaceAll(MARK, '');
    const shown = text.length - heldBack(text, [MARK]);
    this.#held = text.slice(shown);
    return text.slice(0, shown);
  }

  /** What was held back; the beginning of a mark that the end cut off is dropped. */
  end(): string {
    return this.#held.length > CERTAIN ? '' : this.#held;
  }
}

/** How much of the end may be the beginning of one of `marks`. */
function heldBack(text: string, marks: readonly string[]): number {
  const longest = Math.max(...marks.map((mark) => mark.length)) - 1;
  for (let size = Math.min(longest, text.length); size > 0; size -= 1) {
    const end = text.slice(-size);
    if (marks.some((mark) => mark.length > size && mark.startsWith(end))) return size;
  }
  return 0;
}

/** Text without the white space of the pieces that were taken out of it. */
class JoinedText {
  #pending = '';
  #gap = false;
  #hasText = false;
  readonly #gapBreak: string;

  /** `gapBreak` separates the sides of a gap that had no white space of its own. */
  constructor(gapBreak = '') {
    this.#gapBreak = gapBreak;
  }

  /** The text that may be shown now. */
  write(text: string): string {
    let start = 0;
    while (start < text.length && isSpaceCode(text.charCodeAt(start))) start += 1;
    this.#pending += text.slice(0, start);
    if (start === text.length) return '';
    let end = text.length;
    while (isSpaceCode(text.charCodeAt(end - 1))) end -= 1;
    const shown = this.#separator() + text.slice(start, end);
    this.#pending = text.slice(end);
    this.#gap = false;
    this.#hasText = true;
    return shown;
  }

  /** Something was taken out here. */
  gap(): void {
    this.#gap = true;
  }

  /** What remains at the end of the text. */
  end(): string {
    return this.#gap ? '' : this.#pending;
  }

  #separator(): string {
    if (!this.#gap) return this.#pending;
    if (!this.#hasText) return '';
    const breaks = this.#pending.split('\n').length - 1;
    if (breaks > 0) return breaks > 1 ? '\n\n' : '\n';
    return this.#gapBreak || (this.#pending === '' ? '' : ' ');
  }
}

type Mode =
  | { readonly kind: 'content' | 'stopped' }
  | { readonly kind: 'reasoning'; readonly closers: readonly string[]; readonly stops: readonly string[] }
  | { readonly kind: 'code'; readonly fence: string };

const CONTENT: Mode = { kind: 'content' };
/** What may begin a call within a line; a word that the window cuts off counts too. */
const TRIGGER_WORDS = ['call:', 'commentary to=', 'assistantcommentary', '>>>'];
const TRIGGER = new RegExp(`[<[{\`\u25c1\\n]|${TRIGGER_WORDS.map(wordOrBeginning).join('|')}`, 'g');
const LINE_MATCHERS: readonly Matcher[] = [
  ...[matchChevrons, matchLabelledLine, matchNamedLine],
  ...[matchBareOpener, matchStrippedCall, matchStrippedAnalysis],
];
const WORD = /[\p{L}\p{N}_]/u;

class CallScanner {
  readonly #catalog: ToolCatalog;
  readonly #keepAttempts: boolean;
  #prose = new ProseContext();
  #content = new JoinedText();
  readonly #reasoning = new JoinedText('\n\n');
  #mode: Mode = CONTENT;
  #reasoningSeen = false;
  #raw = '';
  #events: TextCallEvent[] = [];

  constructor(catalog: ToolCatalog, keepAttempts: boolean) {
    this.#catalog = catalog;
    this.#keepAttempts = keepAttempts;
  }

  /** Reads as far as the window allows; returns how many characters are done with. */
  scan(win: TextWindow): number {
    let pos = 0;
    while (pos < win.text.length) {
      const mode = this.#mode;
      const next = this.#step(win, pos);
      // Empty reasoning ends where it began: progress, although no character was taken.
      if (next === pos && mode === this.#mode) break;
      if (!this.#reasoningSeen) this.#raw += win.slice(pos, next);
      pos = next;
    }
    return pos;
  }

  /** The events since the last call, neighbouring deltas of one kind as one. */
  takeEvents(): TextCallEvent[] {
    const joined: TextCallEvent[] = [];
    for (const event of this.#events) {
      const last = joined.at(-1);
      const isSame = last?.type === event.type && 'text' in last && 'text' in event;
      if (isSame) joined[joined.length - 1] = { ...last, text: last.text + event.text };
      else joined.push(event);
    }
    this.#events = [];
    return joined;
  }

  finish(): void {
    this.#show('text-delta', this.#prose.imitated ? '' : this.#content.end());
  }

  #step(win: TextWindow, pos: number): number {
    win.starved = false;
    switch (this.#mode.kind) {
      case 'stopped':
        return win.text.length;
      case 'reasoning':
        return this.#reason(win, pos, this.#mode);
      case 'code':
        return this.#code(win, pos, this.#mode.fence);
      case 'content':
        return this.#contentStep(win, pos);
    }
  }

  #contentStep(win: TextWindow, pos: number): number {
    // Blank space at the start of a line goes by itself, so that its first word is looked at.
    if (this.#prose.atLineStart)
      return isSpaceCode(win.text.charCodeAt(pos))
        ? this.#text(win, pos, win.skipSpace(pos))
        : this.#tryMatch(win, pos);
    TRIGGER.lastIndex = pos;
    const at = TRIGGER.exec(win.text)?.index ?? win.text.length;
    if (at > pos) return this.#text(win, pos, at);
    return win.text.charAt(at) === '\n' ? this.#text(win, pos, at + 1) : this.#tryMatch(win, pos);
  }

  #tryMatch(win: TextWindow, pos: number): number {
    const match = this.#match({ win, catalog: this.#catalog, prose: this.#prose }, pos);
    if (win.starved) return pos;
    if (match) return this.#apply(win, pos, match);
    // A run of backticks, or a word at the start of a line, that is no call goes as one piece.
    const word = this.#prose.atLineStart ? win.identifier(pos).length : 1;
    return this.#text(win, pos, win.char(pos) === '`' ? win.runEnd(pos) : Math.max(pos + word, pos + 1));
  }

  #match(context: MatchContext, pos: number): Match | null {
    const { win, prose } = context;
    const char = win.char(pos);
    if (char === '<') return matchToken(context, pos);
    if (char === '\u25c1') return matchTriangle(context, pos);
    if (char === '`' || char === '~') return win.runEnd(pos) - pos >= 3 ? this.#fence(context, pos, char) : null;
    const token = char === '[' ? matchToken(context, pos) : null;
    if (token) return token;
    if (prose.calls > 0 && prose.atLineStart && isResultLabel(win, pos))
      return { kind: 'result', end: win.lineEnd(pos) };
    return prose.imitated ? null : this.#weakMatch(context, pos, char);
  }

  /** Calls that no container marks; after an invented result they do not count. */
  #weakMatch(context: MatchContext, pos: number, char: string): Match | null {
    const { prose } = context;
    if (char === '{' || char === '[') return matchBareValue(context, pos);
    if (prose.atLineStart) return firstMatch(LINE_MATCHERS, context, pos);
    if (char === '>') return matchChevrons(context, pos);
    if (char === 'a') return matchStrippedCall(context, pos);
    if (char !== 'c' || WORD.test(prose.line.at(-1) ?? '')) return null;
    return firstMatch([matchCallPrefix, matchStrippedCall], context, pos);
  }

  #fence(context: MatchContext, pos: number, char: string): Match | null {
    if (char === '`') return matchFence(context, pos);
    return this.#prose.atLineStart ? { kind: 'code', end: context.win.lineEnd(pos), fence: '~~~' } : null;
  }

  #apply(win: TextWindow, pos: number, match: Match): number {
    const { kind, end } = match;
    const isShown = kind === 'text' || kind === 'code' || (kind === 'calls' && match.keep === true);
    if (isShown) this.#text(win, pos, end);
    else this.#content.gap();
    if (kind === 'code') this.#mode = match;
    if (kind === 'calls') {
      if (this.#keepAttempts && !isShown) this.#showAttempts(win.slice(pos, end), match.found);
      this.#addCalls(match.found);
    } else this.#change(match);
    return end;
  }

  #change(match: Exclude<Match, CallsMatch>): void {
    const { kind } = match;
    if (kind === 'result') this.#prose.imitated = true;
    if (kind === 'foreign-turn') this.#mode = { kind: 'stopped' };
    if (kind === 'reclassify') this.#reclassify();
    if (kind !== 'reasoning') return;
    this.#reasoningSeen = true;
    this.#raw = '';
    this.#reasoning.gap();
    this.#mode = { kind, closers: match.closers, stops: match.stops ?? [] };
  }

  /** Shown, but not part of the prose: what follows is judged as if they had been taken out. */
  #showAttempts(text: string, found: readonly Found[]): void {
    const attempts = found.flatMap((item) => (item.kind === 'malformed' ? [item.malformed.raw] : []));
    const shown = attempts.length === found.length ? text : attempts.join('\n');
    if (shown === '' || this.#prose.imitated) return;
    this.#show('text-delta', this.#content.write(shown));
    this.#content.gap();
  }

  #addCalls(found: readonly Found[]): void {
    this.#prose.noteCalls(found.length);
    for (const item of found) {
      if (item.kind === 'call') this.#events.push({ type: 'tool-call', call: item.call });
      else this.#events.push({ type: 'malformed-call', malformed: item.malformed });
    }
  }

  /** A closing tag without an opening one: the opening tag stood in the prompt. A later one is a leaked token. */
  #reclassify(): void {
    if (this.#reasoningSeen) return;
    this.#reasoningSeen = true;
    const reasoning = this.#raw.trim();
    this.#raw = '';
    if (reasoning === '') return;
    this.#events.push({ type: 'reclassify', reasoning });
    this.#reasoning.write(reasoning);
    this.#content = new JoinedText();
    this.#content.gap();
    this.#prose = new ProseContext();
  }

  #text(win: TextWindow, from: number, to: number): number {
    const text = win.slice(from, to);
    this.#prose.feed(text);
    if (!this.#prose.imitated) this.#show('text-delta', this.#content.write(text));
    return to;
  }

  #show(type: 'text-delta' | 'reasoning-delta', text: string): void {
    if (text !== '') this.#events.push({ type, text });
  }

  #reason(win: TextWindow, pos: number, { closers, stops }: Extract<Mode, { kind: 'reasoning' }>): number {
    const marks = [
      ...closers.map((mark) => ({ mark, skip: mark.length })),
      ...stops.map((mark) => ({ mark, skip: 0 })),
    ];
    const ends = marks.map(({ mark, skip }) => ({ at: win.find(mark, pos), skip })).filter(({ at }) => at !== -1);
    const first = ends.sort((a, b) => a.at - b.at)[0];
    const held = win.final ? 0 : heldBack(win.text, [...closers, ...stops]);
    const shown = first?.at ?? Math.max(pos, win.text.length - held);
    if (first) this.#mode = CONTENT;
    this.#show('reasoning-delta', this.#reasoning.write(win.slice(pos, shown)));
    return first ? first.at + first.skip : shown;
  }

  #code(win: TextWindow, pos: number, fence: string): number {
    if (this.#prose.atLineStart) {
      const at = win.skipSpace(pos);
      const closes = win.startsWith(fence, at) && /^\n?$/.test(win.char(win.skipBlank(win.runEnd(at))));
      if (win.starved) return pos;
      if (closes) this.#mode = CONTENT;
      const end = closes ? win.runEnd(at) : at;
      if (end > pos) return this.#text(win, pos, end);
    }
    const line = win.text.indexOf('\n', pos);
    return this.#text(win, pos, line === -1 ? win.text.length : line + 1);
  }
}

function firstMatch(matchers: readonly Matcher[], context: MatchContext, pos: number): Match | null {
  for (const matcher of matchers) {
    const match = matcher(context, pos);
    if (match) return match;
  }
  return null;
}

/** Pattern of a word, or of its beginning at the end of the text. */
function wordOrBeginning(word: string): string {
  return word.length < 2 ? word : `${word[0]}(?:$|${wordOrBeginning(word.slice(1))})`;
}
