// Owns finding the lines of a text that fit a pattern, with an end to patterns that would run for ever.
// Knows no file. Invariant: no pattern and no text block the program for longer than the time given; matching is line by line.
import { createContext, Script } from 'node:vm';
import { ok, type Result, refuse } from '#base/result.ts';
import { escapeRegExp } from './glob.ts';

export interface LineMatch {
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

export interface LineMatcher {
  /** Lines that fit, at most `max`. Refused when the pattern takes longer than `ms`. */
  match(text: string, max: number, ms: number): Result<readonly LineMatch[], 'too-slow'>;
}

/** Longer lines are looked at only this far: minified code must not make every pattern slow. */
const MAX_LINE = 10_000;
const MAX_PATTERN = 2_000;

/** A pattern that is no regular expression is searched for as it is written. `(?i)` at its start ignores case. */
export function createLineMatcher(pattern: string): Result<LineMatcher, 'bad-pattern'> {
  if (pattern === '' || pattern.length > MAX_PATTERN)
    return refuse('bad-pattern', `a pattern has 1 to ${MAX_PATTERN} characters`);
  const { test, literal } = compile(pattern);
  const effort = effortOf(pattern);
  let guarded: ReturnType<typeof guard> | undefined;
  return ok({
    match(text, max, ms) {
      if (literal !== undefined && !text.includes(literal)) return ok([]);
      const work = () => matchLines(text, test, max);
      if (effort === 'linear' || (effort === 'square' && !hasLongLine(text))) return ok(work());
      guarded ??= guard();
      return guarded(work, ms);
    },
  });
}

/** With one repetition at most, a line of bounded length takes a bounded time; watching over each file costs more than that. */
function effortOf(pattern: string): 'linear' | 'square' | 'any' {
  const repetitions = pattern.match(/[*+]|\{\d*,|\\\d|\\k/g)?.length ?? 0;
  if (repetitions > 1 || /\)[*+{]/.test(pattern)) return 'any';
  return repetitions === 0 ? 'linear' : 'square';
}

const LONG_LINE = 1_000;

function hasLongLine(text: string): boolean {
  for (let start = 0; start <= text.length; ) {
    const end = text.indexOf('\n', start);
    if ((end < 0 ? text.length : end) - start > LONG_LINE) return true;
    if (end < 0) return false;
    start = end + 1;
  }
  return false;
}

interface Compiled {
  readonly test: RegExp;
  /** A text that every fitting line holds, when the pattern is plain text. */
  readonly literal?: string;
}

function compile(pattern: string): Compiled {
  const flag = /^\(\?(i)\)/.exec(pattern);
  const body = flag ? pattern.slice(flag[0].length) : pattern;
  const flags = flag ? 'iu' : 'u';
  if (!/[\\^$.*+?()[\]{}|]/.test(body))
    return { test: new RegExp(escapeRegExp(body), flags), ...(flag ? {} : { literal: body }) };
  return {
    test: tryCompile(body, flags) ?? tryCompile(body, flags.replace('u', '')) ?? new RegExp(escapeRegExp(body), flags),
  };
}

function tryCompile(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function matchLines(text: string, test: RegExp, max: number): readonly LineMatch[] {
  const found: LineMatch[] = [];
  let line = 0;
  for (let start = 0; start <= text.length && found.length < max; line += 1) {
    const end = text.indexOf('\n', start);
    const body = lineBetween(text, start, end < 0 ? text.length : end);
    if (test.test(body)) found.push({ line: line + 1, text: body });
    start = end < 0 ? text.length + 1 : end + 1;
  }
  return found;
}

function lineBetween(text: string, start: number, end: number): string {
  const stop = end > start && text[end - 1] === '\r' ? end - 1 : end;
  return text.slice(start, Math.min(stop, start + MAX_LINE));
}

/** A regular expression cannot be stopped from inside its thread; V8 can, when it runs below a script with a time-out. */
function guard(): (work: () => readonly LineMatch[], ms: number) => Result<readonly LineMatch[], 'too-slow'> {
  const box: { work?: () => readonly LineMatch[]; found: readonly LineMatch[] } = { found: [] };
  const context = createContext({
    run: () => {
      box.found = box.work?.() ?? [];
    },
  });
  const script = new Script('run()');
  return (work, ms) => {
    box.work = work;
    try {
      script.runInContext(context, { timeout: Math.max(1, Math.ceil(ms)) });
      return ok(box.found);
    } catch (error) {
      if (!isTimeout(error)) throw error;
      return refuse('too-slow', 'the pattern takes too long on this text (nested repetitions?); make it simpler');
    }
  };
}

/** The error belongs to the inner context: it is no instance of our Error. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
