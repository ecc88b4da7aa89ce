// Owns what can be said of the text of a skill without a YAML reader: sizes and names (core notes 2.6, agentskills.io), its front matter as people
// really write it, the curator's managed block (curator notes 10), the step in which a command stands.

import { ok, type Result, refuse } from '#base/result.ts';
import { oneLine } from '#base/text.ts';

/** The file that makes a folder a skill. */
export const SKILL_FILE = 'SKILL.md';

/** Folders of a skill that may hold supporting files. */
export const SUPPORT_FOLDERS = ['references', 'templates', 'scripts', 'assets'] as const;
export type SupportFolder = (typeof SUPPORT_FOLDERS)[number];

export const skillLimits = {
  /** Characters of a name. */
  name: 64,
  /** Characters of a description that anybody wrote. */
  description: 1_024,
  /** Characters of a description that our own tool writes: the index shows no more. */
  ownDescription: 60,
  /** Characters of `compatibility`. */
  compatibility: 500,
  /** Characters of SKILL.md. */
  text: 100_000,
  /** Bytes of one supporting file. */
  supportBytes: 1_048_576,
} as const;

/** Names that our own tool writes (core notes 2.6); agentskills.io is narrower, see `validateSkill`. */
export const SKILL_NAME = /^[a-z0-9][a-z0-9._-]*$/;

export type HeaderRefusal = 'no-front-matter' | 'foreign-front-matter' | 'unclosed-front-matter';

const OPENING = /^-{3,}[ \t]*(?:ya?ml)?[ \t]*$/i;
const LANGUAGE = /^-{3,}[ \t]*([\w+.-]+)[ \t]*$/;
const CLOSING = /^(?:-{3,}|\.{3})[ \t]*$/;
const INDENTED_CLOSING = /^[ \t]+---[ \t]*$/;
const CODE_FENCE = /^(?:`{3,}|~{3,})[ \t]*(?:markdown|md|ya?ml)?[ \t]*$/i;
const ENTRY = /^(?:[A-Za-z_][\w.-]*[ \t]*:(?:\s|$)|[ \t]|- |#(?!#* ))/;
const KEY = /^[A-Za-z_][\w.-]*[ \t]*:(?:\s|$)/;

/** Splits a whole SKILL.md. */
export function splitHeader(text: string): Result<
  {
    /** Text between the fences, line ends as LF. */
    readonly header: string;
    /** What follows the closing fence, line ends as LF. */
    readonly body: string;
    /** True when the closing fence is missing and the end of the header was guessed. */
    readonly unclosed: boolean;
  },
  HeaderRefusal
> {
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

export const START_MARKER = '<!-- curator-evolver:auto:start -->';
export const END_MARKER = '<!-- curator-evolver:auto:end -->';

/**
 * `none`: no marker. `whole`: one start before one end; offsets in UTF-16 units, `end` behind the end marker.
 * `broken`: anything else, and so nothing that could be replaced without guessing.
 */
type BlockPlace =
  | { readonly state: 'none' }
  | { readonly state: 'broken' }
  | { readonly state: 'whole'; readonly start: number; readonly end: number };

export function locateBlock(text: string): BlockPlace {
  const starts = countOf(text, START_MARKER);
  const ends = countOf(text, END_MARKER);
  if (starts === 0 && ends === 0) return { state: 'none' };
  const start = text.indexOf(START_MARKER);
  const end = text.indexOf(END_MARKER);
  if (starts !== 1 || ends !== 1 || end < start) return { state: 'broken' };
  return { state: 'whole', start, end: end + END_MARKER.length };
}

/** The text as it was before a block was put into it; one with broken markers stays as it is. */
export function withoutBlock(text: string): string {
  const place = locateBlock(text);
  if (place.state !== 'whole') return text;
  const before = text.slice(0, place.start);
  const after = text.slice(place.end).replace(/^\r?\n/, '');
  return after === '' ? before.replace(/\n\n$/, '\n') : before + after;
}

export function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** Where one command ends and the next begins, in one line that was run. */
const JOINTS = /\s*(?:&&|\|\||[;|\n])\s*/;
const FENCE = /^\s*(?:```|~~~)/;
const ITEM = /^\s*(\d{1,3})[.)]\s/;
const HEADING = /^#{1,6}\s+(.*\S)/;

/** `step N`, or the heading above; empty: it stands before any; undefined: it does not stand there. */
export function stepOf(text: string, command: string): string | undefined {
  const parts = [command, ...command.split(JOINTS)].map(folded).filter((part) => part !== '');
  let step = '';
  let fenced = false;
  for (const line of withoutBlock(text).split(/\r?\n/)) {
    if (FENCE.test(line)) fenced = !fenced;
    else if (!fenced) step = stepAt(line) ?? step;
    const plain = folded(line).replace(/^[$>] /, '');
    const codes = fenced ? [plain] : Array.from(line.matchAll(/`([^`]+)`/g), ([, code = '']) => folded(code));
    if (parts.some((part) => standsIn(part, plain, codes))) return step;
  }
  return undefined;
}

function stepAt(line: string): string | undefined {
  const number = ITEM.exec(line)?.[1];
  return number === undefined ? HEADING.exec(line)?.[1] : `step ${number}`;
}

/** Also with more arguments than the skill gives, and with something in place of `<what>` or `$WHAT`. */
function standsIn(part: string, line: string, codes: readonly string[]): boolean {
  if (codes.includes(part)) return true;
  const around = part.includes(' ') ? ` ${line} `.split(part) : [];
  const isWhole = (after: string, at: number) =>
    at > 0 && /^[\s`"').,;:]/.test(after) && /[\s`"'(]$/.test(around[at - 1] ?? '');
  if (around.some(isWhole)) return true;
  const starts = codes.map((code) => code.replace(/ \S*[<{$[].*$/, ''));
  return starts.some((start) => start.includes(' ') && `${part} `.startsWith(`${start} `));
}

function folded(text: string): string {
  return oneLine(text);
}
