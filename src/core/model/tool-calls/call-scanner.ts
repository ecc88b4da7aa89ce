/**
 * Owns the walk over the text: where a matcher is tried, in which mode (content, reasoning, code block, after the turn),
 * and what its answer does to content, reasoning and calls. Knows no format. It takes text in windows and says how far
 * it came; a position whose matcher was starved is looked at again with more text, so chunking cannot change a result.
 */
import { matchBareValue } from './families/bare-value.ts';
import { matchBareOpener } from './families/container.ts';
import { fenceRun, matchFence } from './families/fence.ts';
import { matchChevrons } from './families/harmony.ts';
import { matchLabelledLine } from './families/labelled-line.ts';
import type { Match, MatchContext, Matcher } from './families/match.ts';
import { matchCallPrefix, matchNamedLine } from './families/named-line.ts';
import { matchStrippedAnalysis, matchStrippedCall } from './families/stripped-harmony.ts';
import { matchToken, matchTriangle } from './families/token.ts';
import { JoinedText } from './joined-text.ts';
import { ProseContext } from './prose-context.ts';
import { isResultLabel } from './prose-guard.ts';
import { isSpaceCode, type TextWindow } from './reading/text-window.ts';
import type { Found, TextCallEvent } from './text-call.ts';
import type { ToolCatalog } from './tool-catalog.ts';

type Mode =
  | { readonly kind: 'content' | 'stopped' }
  | { readonly kind: 'reasoning'; readonly closers: readonly string[]; readonly stops: readonly string[] }
  | { readonly kind: 'code'; readonly fence: string };

const CONTENT: Mode = { kind: 'content' };
/** What may begin a call within a line; a word that the window cuts off counts too. */
const TRIGGER_WORDS = ['call:', 'commentary to=', 'assistantcommentary', '>>>'];
const TRIGGER = new RegExp(`[<[{\`\u25c1\\n]|${TRIGGER_WORDS.map(wordOrBeginning).join('|')}`, 'g');
const LINE_MATCHERS: readonly Matcher[] = [
  matchChevrons,
  matchLabelledLine,
  matchNamedLine,
  matchBareOpener,
  matchStrippedCall,
  matchStrippedAnalysis,
];
const WORD = /[\p{L}\p{N}_]/u;
const TOKEN_STARTS: Readonly<Record<string, Matcher>> = { '<': matchToken, '[': matchToken, '\u25c1': matchTriangle };

export class CallScanner {
  readonly #catalog: ToolCatalog;
  readonly #keepAttempts: boolean;
  #prose = new ProseContext();
  #content = new JoinedText();
  readonly #reasoning = new JoinedText('\n\n');
  #mode: Mode = CONTENT;
  #reasoningSeen = false;
  #raw = '';
  #events: TextCallEvent[] = [];

  constructor(catalog: ToolCatalog, keepAttempts = false) {
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

  /** The events since the last call. */
  takeEvents(): TextCallEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  finish(): void {
    this.#showText(this.#prose.imitated ? '' : this.#content.end());
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
    if (this.#prose.atLineStart && !isSpaceCode(win.text.charCodeAt(pos))) return this.#tryMatch(win, pos);
    TRIGGER.lastIndex = pos;
    const at = TRIGGER.exec(win.text)?.index ?? win.text.length;
    if (at > pos && !(this.#prose.atLineStart && !!isSpaceCode(win.text.charCodeAt(pos))))
      return this.#text(win, pos, at);
    if (this.#prose.atLineStart) return this.#blank(win, pos);
    return win.text.charAt(at) === '\n' ? this.#text(win, pos, at + 1) : this.#tryMatch(win, pos);
  }

  /** Blank space at the start of a line goes by itself, so that its first word is looked at. */
  #blank(win: TextWindow, pos: number): number {
    return this.#text(win, pos, win.skipSpace(pos));
  }

  #tryMatch(win: TextWindow, pos: number): number {
    const context: MatchContext = { win, catalog: this.#catalog, prose: this.#prose };
    const match = this.#match(context, pos);
    if (win.starved) return pos;
    if (match) return this.#apply(win, pos, match);
    return this.#text(win, pos, Math.max(plainEnd(context, pos), pos + 1));
  }

  #match(context: MatchContext, pos: number): Match | null {
    const { win, prose } = context;
    const char = win.char(pos);
    const token = TOKEN_STARTS[char]?.(context, pos) ?? null;
    if (token || char === '<' || char === '\u25c1') return token;
    if (char === '`' || char === '~')
      return fenceRun(context, pos).length >= 3 ? this.#fence(context, pos, char) : null;
    if (prose.calls > 0 && prose.atLineStart && isResultLabel(win, pos))
      return { kind: 'result', end: win.lineEnd(pos) };
    return prose.imitated ? null : this.#weakMatch(context, pos, char);
  }

  /** Calls that no container marks; after an invented result they do not count. */
  #weakMatch(context: MatchContext, pos: number, char: string): Match | null {
    const { prose } = context;
    if (char === '{' || char === '[') return matchBareValue(context, pos);
    if (prose.atLineStart) return lineMatch(context, pos);
    if (char === '>') return matchChevrons(context, pos);
    if (char === 'a') return matchStrippedCall(context, pos);
    if (char !== 'c' || WORD.test(prose.line.at(-1) ?? '')) return null;
    return matchCallPrefix(context, pos) ?? matchStrippedCall(context, pos);
  }

  #fence(context: MatchContext, pos: number, char: string): Match | null {
    if (char === '`') return matchFence(context, pos);
    return this.#prose.atLineStart ? { kind: 'code', end: context.win.lineEnd(pos), fence: '~~~' } : null;
  }

  #apply(win: TextWindow, pos: number, match: Match): number {
    if (match.kind === 'text' || match.kind === 'code') {
      this.#text(win, pos, match.end);
      if (match.kind === 'code') this.#mode = { kind: 'code', fence: match.fence };
      return match.end;
    }
    if (match.kind === 'calls' && match.keep) this.#text(win, pos, match.end);
    else this.#content.gap();
    if (match.kind === 'calls') {
      if (this.#keepAttempts && !match.keep) this.#showAttempts(win.slice(pos, match.end), match.found);
      this.#addCalls(match);
    } else this.#change(match);
    return match.end;
  }

  /** Shown, but not part of the prose: what follows is judged as if they had been taken out. */
  #showAttempts(text: string, found: readonly Found[]): void {
    const attempts = found.flatMap((item) => (item.kind === 'malformed' ? [item.malformed.raw] : []));
    const shown = attempts.length === found.length ? text : attempts.join('\n');
    if (shown === '' || this.#prose.imitated) return;
    this.#showText(this.#content.write(shown));
    this.#content.gap();
  }

  #addCalls({ found }: Extract<Match, { kind: 'calls' }>): void {
    this.#prose.noteCalls(found.length);
    for (const item of found) {
      if (item.kind === 'call') this.#events.push({ type: 'tool-call', call: item.call });
      else this.#events.push({ type: 'malformed-call', malformed: item.malformed });
    }
  }

  #change(match: Match): void {
    if (match.kind === 'result') this.#prose.imitated = true;
    if (match.kind === 'foreign-turn') this.#mode = { kind: 'stopped' };
    if (match.kind === 'reclassify') this.#reclassify();
    if (match.kind !== 'reasoning') return;
    this.#reasoningSeen = true;
    this.#raw = '';
    this.#reasoning.gap();
    this.#mode = { kind: 'reasoning', closers: match.closers, stops: match.stops ?? [] };
  }

  /** A closing tag without an opening one: the opening tag stood in the prompt. A later one is a leaked token. */
  #reclassify(): void {
    if (this.#reasoningSeen) return;
    this.#reasoningSeen = true;
    const text = this.#raw.trim();
    this.#raw = '';
    if (text === '') return;
    this.#events.push({ type: 'reclassify', reasoning: text });
    this.#reasoning.write(text);
    this.#content = new JoinedText();
    this.#content.gap();
    this.#prose = new ProseContext();
  }

  #text(win: TextWindow, from: number, to: number): number {
    const text = win.slice(from, to);
    this.#prose.feed(text);
    if (!this.#prose.imitated) this.#showText(this.#content.write(text));
    return to;
  }

  #showText(text: string): void {
    if (text !== '') this.#events.push({ type: 'text-delta', text });
  }

  #reason(win: TextWindow, pos: number, { closers, stops }: Extract<Mode, { kind: 'reasoning' }>): number {
    let end = -1;
    let next = -1;
    for (const mark of [...closers, ...stops]) {
      const at = win.find(mark, pos);
      if (at === -1 || (end !== -1 && at >= end)) continue;
      end = at;
      next = closers.includes(mark) ? at + mark.length : at;
    }
    if (end !== -1) this.#mode = CONTENT;
    const shown = end === -1 ? win.text.length - heldBack(win, [...closers, ...stops]) : end;
    const text = this.#reasoning.write(win.slice(pos, Math.max(shown, pos)));
    if (text !== '') this.#events.push({ type: 'reasoning-delta', text });
    return end === -1 ? Math.max(shown, pos) : next;
  }

  #code(win: TextWindow, pos: number, fence: string): number {
    if (this.#prose.atLineStart) {
      const at = win.skipSpace(pos);
      const closes = win.startsWith(fence, at) && /[\n]|^$/.test(win.char(win.skipBlank(fenceEnd(win, at))));
      if (win.starved) return pos;
      if (closes) {
        this.#mode = CONTENT;
        return this.#text(win, pos, fenceEnd(win, at));
      }
      if (at > pos) return this.#text(win, pos, at);
    }
    const line = win.text.indexOf('\n', pos);
    return this.#text(win, pos, line === -1 ? win.text.length : line + 1);
  }
}

/** What only the start of a line may begin. */
function lineMatch(context: MatchContext, pos: number): Match | null {
  for (const matcher of LINE_MATCHERS) {
    const match = matcher(context, pos);
    if (match) return match;
  }
  return null;
}

/** Pattern of a word, or of its beginning at the end of the text. */
function wordOrBeginning(word: string): string {
  return word.length < 2 ? word : `${word[0]}(?:$|${wordOrBeginning(word.slice(1))})`;
}

function fenceEnd(win: TextWindow, at: number): number {
  const code = win.code(at);
  let end = at;
  while (code !== -1 && win.code(end) === code) end += 1;
  return end;
}

/** A run of backticks, or a word at the start of a line, that is no call goes as one piece. */
function plainEnd(context: MatchContext, pos: number): number {
  const { win, prose } = context;
  if (win.char(pos) === '`') return pos + fenceRun(context, pos).length;
  return prose.atLineStart ? pos + win.identifier(pos).length : pos + 1;
}

/** How much of the end may be the beginning of one of `marks`. */
function heldBack(win: TextWindow, marks: readonly string[]): number {
  if (win.final) return 0;
  let held = 0;
  for (const mark of marks) {
    for (let size = Math.min(mark.length - 1, win.text.length); size > held; size -= 1) {
      if (win.text.endsWith(mark.slice(0, size))) {
        held = size;
        break;
      }
    }
  }
  return held;
}
