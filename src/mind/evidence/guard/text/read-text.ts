// Owns the shape in which rules see a file: its folded text with the kinds of its hosts marked, where each line begins, what kind each line
// is, and which lines talk about attacks instead of making one. Knows no rule.
// Invariants: linear; line numbers are those of the file; prose that runs on and commands that are continued stand on one line.
import { foldLine, joinedPieces } from './fold.ts';
import { type IsSubject, markHosts } from './hosts.ts';
import { isBadExample, isPatternLine, leadsToExamples } from './talk.ts';

export type LineKind = 'prose' | 'code' | 'comment' | 'header';

export interface ReadText {
  readonly text: string;
  readonly starts: readonly number[];
  readonly kinds: readonly LineKind[];
  readonly talk: readonly boolean[];
}

interface Reading {
  readonly lines: string[];
  readonly kinds: LineKind[];
  readonly talk: boolean[];
  kind: LineKind;
  fence: string;
  /** Level of the heading that speaks of attacks and is still open, or 0. */
  guarded: number;
  /** The last prose led over to examples of what is bad. */
  lead: boolean;
  /** Lines left for which a comment has called the code bad. */
  bad: number;
}

const MARKDOWN = /\.(?:md|mdx|markdown|txt|rst|adoc)$|(?:^|\/)[^./]*$/i;
const FENCE = /^\s*(?:[-*+>]\s+|\d+[.)]\s+)*(`{3,}|~{3,})/;
const HEADING = /^\s{0,3}(#{1,6})\s/;

export function readText(text: string, path: string, isSubject: IsSubject): ReadText {
  const markdown = MARKDOWN.test(path) && !/requirements[\w.-]*\.txt$/i.test(path);
  const start: LineKind = markdown ? 'prose' : 'code';
  const reading: Reading = { lines: [], kinds: [], talk: [], kind: start, fence: '', guarded: 0, lead: false, bad: 0 };
  for (const raw of text.split('\n')) {
    const folded = raw.trim() === '' ? '' : markHosts(foldLine(raw), isSubject);
    if (markdown) takeMarkdown(reading, folded);
    else takeCode(reading, folded);
  }
  return joined(reading);
}

function takeMarkdown(reading: Reading, line: string): void {
  if (reading.lines.length === 0 && /^---[a-z]*\s*$/.test(line)) reading.kind = 'header';
  if (reading.kind === 'header') takeHeader(reading, line);
  else if (reading.fence !== '') takeInFence(reading, line);
  else takeOutside(reading, line);
}

function takeHeader(reading: Reading, line: string): void {
  add(reading, line, false);
  if (reading.lines.length > 1 && /^(?:---|\.\.\.)\s*$/.test(line)) reading.kind = 'prose';
}

function takeInFence(reading: Reading, line: string): void {
  const fence = FENCE.exec(line)?.[1] ?? '';
  if (!fence.startsWith(reading.fence) || line.trim() !== fence) takeCode(reading, line);
  else {
    closeFence(reading);
    add(reading, line, false);
  }
}

function takeOutside(reading: Reading, line: string): void {
  const fence = FENCE.exec(line)?.[1] ?? '';
  if (fence === '' || reading.kind === 'comment') takeProse(reading, line);
  else {
    reading.fence = fence;
    reading.kind = 'code';
    add(reading, line, false);
  }
}

function closeFence(reading: Reading): void {
  reading.fence = '';
  reading.kind = 'prose';
  reading.bad = 0;
}

function takeCode(reading: Reading, line: string): void {
  if (isBadExample(line)) reading.bad = 8;
  add(reading, line, reading.lead || reading.guarded > 0 || reading.bad > 0 || isPatternLine(line));
  if (reading.bad > 0) reading.bad -= 1;
}

const INDENTED = /^\s|^[-*+>|•]|^\d{1,3}[.)]/;

function takeProse(reading: Reading, line: string): void {
  const level = HEADING.exec(line)?.[1]?.length ?? 0;
  if (level > 0) takeHeading(reading, level, line);
  else if (line !== '' && !INDENTED.test(line)) reading.lead = /:[\s*_]*$/.test(line) && leadsToExamples(line);
  if (line.includes('<!--')) reading.kind = 'comment';
  add(reading, line, reading.guarded > 0 || reading.lead);
  if (line.includes('-->')) reading.kind = 'prose';
}

function takeHeading(reading: Reading, level: number, line: string): void {
  reading.lead = false;
  const isInside = reading.guarded > 0 && level > reading.guarded;
  if (!isInside) reading.guarded = leadsToExamples(line) ? level : 0;
}

function add({ lines, kinds, talk, kind }: Reading, line: string, isTalk: boolean): void {
  lines.push(line);
  kinds.push(kind);
  talk.push(isTalk);
}

const NEW_BLOCK = /^\s*(?:[-*+•>|#]|\d{1,3}[.)]\s|<|$|```)/;
const RUNS_ON = /\\\s*$/;

function joined({ lines, kinds, talk }: Reading): ReadText {
  const starts: number[] = [];
  const parts: string[] = [];
  let length = 0;
  lines.forEach((line, at) => {
    const kind = kinds[at];
    const next = lines[at + 1] ?? '';
    const pieces = kind === 'code' || line.includes('\x60') ? joinedPieces(line) : undefined;
    const shown = RUNS_ON.test(line) ? line.replace(RUNS_ON, ' ') : line;
    const runsOn =
      shown !== line || (kind !== 'code' && kinds[at + 1] === kind && !NEW_BLOCK.test(line) && !NEW_BLOCK.test(next));
    const part = `${shown}${pieces === undefined ? '' : `  ${pieces}`}${runsOn ? ' ' : '\n'}`;
    starts.push(length);
    parts.push(part);
    length += part.length;
  });
  return { text: parts.join(''), starts, kinds, talk };
}

/** Index of the line in which an offset lies. */
export function lineIndex(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
