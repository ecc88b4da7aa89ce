// Owns finding the front matter of a SKILL.md as people really write it: marks and blank lines before it, long fences, a missing closing
// fence. Knows no YAML. Invariant: linear, never throws; a fence with another language than YAML is refused, so nothing is ever executed.
import { ok, type Result, refuse } from '#base/result.ts';

export type HeaderRefusal = 'no-front-matter' | 'foreign-front-matter' | 'unclosed-front-matter';

export interface SplitText {
  /** Text between the fences, line ends as LF. */
  readonly header: string;
  /** What follows the closing fence, line ends as LF. */
  readonly body: string;
  /** True when the closing fence is missing and the end of the header was guessed. */
  readonly unclosed: boolean;
}

const OPENING = /^-{3,}[ \t]*(?:ya?ml)?[ \t]*$/i;
const LANGUAGE = /^-{3,}[ \t]*([\w+.-]+)[ \t]*$/;
const CLOSING = /^(?:-{3,}|\.{3})[ \t]*$/;
const INDENTED_CLOSING = /^[ \t]+---[ \t]*$/;
const CODE_FENCE = /^(?:`{3,}|~{3,})[ \t]*(?:markdown|md|ya?ml)?[ \t]*$/i;
const ENTRY = /^(?:[A-Za-z_][\w.-]*[ \t]*:(?:\s|$)|[ \t]|- |#(?!#* ))/;
const KEY = /^[A-Za-z_][\w.-]*[ \t]*:(?:\s|$)/;

/** Splits a whole SKILL.md. */
export function splitHeader(text: string): Result<SplitText, HeaderRefusal> {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const start = skipPreamble(lines);
  const first = withoutMarks(lines[start] ?? '');
  if (!OPENING.test(first)) return refuseStart(first);
  const wrapped = start > 0 && CODE_FENCE.test(withoutMarks(lines[start - 1] ?? ''));
  const end = wrapped ? lastOfFence(lines) : lines.length;
  const closing = findClosing(lines, start + 1, end);
  const unclosed = closing === undefined;
  const stop = closing ?? guessEnd(lines, start + 1, end);
  if (stop === undefined)
    return refuse('unclosed-front-matter', 'The front matter is never closed: put a line --- after its last field.');
  return ok({
    header: lines.slice(start + 1, stop).join('\n'),
    body: lines.slice(unclosed ? stop : stop + 1, end).join('\n'),
    unclosed,
  });
}

function refuseStart(first: string): Result<never, HeaderRefusal> {
  const language = LANGUAGE.exec(first)?.[1];
  if (language !== undefined)
    return refuse(
      'foreign-front-matter',
      `Front matter in ${language} is not read; only YAML between lines of --- is.`,
    );
  return refuse(
    'no-front-matter',
    'SKILL.md must begin with front matter: a line ---, name and description, a line ---.',
  );
}

/** Index of the first line that says something: byte order marks, blank lines, an HTML comment and a code fence around it all may precede. */
function skipPreamble(lines: readonly string[]): number {
  let at = 0;
  let comment = false;
  for (; at < lines.length; at += 1) {
    const line = withoutMarks(lines[at] ?? '').trim();
    if (comment) comment = !line.includes('-->');
    else if (line.startsWith('<!--')) comment = !line.includes('-->');
    else if (line !== '') break;
  }
  const opensFence = CODE_FENCE.test(withoutMarks(lines[at] ?? ''));
  return opensFence && OPENING.test(withoutMarks(lines[at + 1] ?? '')) ? at + 1 : at;
}

function withoutMarks(line: string): string {
  return line.replace(/^[\uFEFF\u200B]+/, '');
}

function lastOfFence(lines: readonly string[]): number {
  const last = lines.findLastIndex((line) => line.trim() !== '');
  return /^(?:`{3,}|~{3,})\s*$/.test(lines[last] ?? '') ? last : lines.length;
}

function findClosing(lines: readonly string[], from: number, end: number): number | undefined {
  let indented: number | undefined;
  for (let at = from; at < end; at += 1) {
    const line = lines[at] ?? '';
    if (CLOSING.test(line)) return at;
    if (indented === undefined && INDENTED_CLOSING.test(line)) indented = at;
  }
  return indented;
}

/** Without a closing fence the header ends at the first line that can belong to none; it must hold at least one field. */
function guessEnd(lines: readonly string[], from: number, end: number): number | undefined {
  if (!KEY.test(lines[from] ?? '')) return undefined;
  for (let at = from + 1; at < end; at += 1) {
    const line = lines[at] ?? '';
    const isGap = line.trim() === '';
    if (isGap ? !KEY.test(lines[at + 1] ?? '') : !ENTRY.test(line)) return at;
  }
  return end;
}
