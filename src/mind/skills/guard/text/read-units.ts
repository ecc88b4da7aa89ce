// Owns the cutting of a file into units: Markdown by headings, lists, fences, tables and comments; everything else by commands.
// Knows no rule. Invariant: linear in the text; every non-blank line is in a unit, long ones in overlapping pieces.
import { leadsToExamples, marksBadExample } from './defence.ts';
import { foldLine } from './fold.ts';
import { type IsSubject, markHosts } from './mark-hosts.ts';
import type { Unit, UnitKind } from './unit.ts';

const UNIT_LIMIT = 1_500;
const LINE_LIMIT = 4_000;
const LINE_OVERLAP = 400;
const MARKDOWN = /\.(?:md|mdx|markdown|txt|rst|adoc)$|(?:^|\/)[^.]*$/i;

interface Draft {
  kind: UnitKind;
  text: string;
  starts: { offset: number; line: number }[];
  guarded: boolean;
}

interface Reading {
  readonly units: Unit[];
  readonly isSubject: IsSubject;
  draft: Draft | undefined;
  block: number;
  fence: string | undefined;
  comment: boolean;
  header: boolean;
  /** Levels of the headings that speak of attacks and are still open. */
  guardedLevels: number[];
  /** The last prose led over to examples of what is bad. */
  lead: boolean;
  /** Lines left for which a comment has called the code bad. */
  badLines: number;
}

/** `markdown` decides how it is cut; `undefined` goes by the path. */
export function readUnits(text: string, path: string, isSubject: IsSubject): readonly Unit[] {
  const reading: Reading = {
    units: [],
    isSubject,
    draft: undefined,
    block: 0,
    fence: undefined,
    comment: false,
    header: false,
    guardedLevels: [],
    lead: false,
    badLines: 0,
  };
  const take = MARKDOWN.test(path) && !/requirements[\w.-]*\.txt$/i.test(path) ? takeMarkdown : takeCode;
  let line = 0;
  for (let start = 0; start <= text.length; ) {
    const stop = text.indexOf('\n', start);
    const end = stop < 0 ? text.length : stop;
    line += 1;
    if (end > start) takeLine(reading, { raw: text.slice(start, end), line, take });
    else blankLine(reading);
    start = end + 1;
  }
  flush(reading);
  return reading.units;
}

type Take = (reading: Reading, folded: string, line: number) => void;

function takeLine(reading: Reading, { raw, line, take }: { raw: string; line: number; take: Take }): void {
  if (raw.length <= LINE_LIMIT) {
    if (raw.trim() === '') blankLine(reading);
    else take(reading, markHosts(foldLine(raw), reading.isSubject), line);
    return;
  }
  for (let at = 0; at < raw.length; at += LINE_LIMIT - LINE_OVERLAP) {
    const folded = markHosts(foldLine(raw.slice(at, at + LINE_LIMIT)), reading.isSubject);
    flush(reading);
    open(reading, reading.fence === undefined ? 'prose' : 'code', folded, line);
    flush(reading);
  }
}

function blankLine(reading: Reading): void {
  flush(reading);
  if (reading.fence === undefined) reading.badLines = 0;
}

function takeCode(reading: Reading, folded: string, line: number): void {
  addCode(reading, folded, line);
}

function takeMarkdown(reading: Reading, folded: string, line: number): void {
  if (line === 1 && /^---[a-z]*\s*$/.test(folded)) {
    reading.header = true;
    return;
  }
  if (reading.header) {
    if (/^(?:---|\.\.\.)\s*$/.test(folded)) {
      flush(reading);
      reading.header = false;
      return;
    }
    addHeader(reading, folded, line);
    return;
  }
  if (reading.fence !== undefined) takeInFence(reading, folded, line);
  else takeOutsideFence(reading, folded, line);
}

function addHeader(reading: Reading, folded: string, line: number): void {
  if (/^\s/.test(folded) && reading.draft !== undefined) append(reading, folded, line);
  else {
    flush(reading);
    open(reading, 'header', folded, line);
  }
}

function takeInFence(reading: Reading, folded: string, line: number): void {
  const mark = folded.trim();
  if (reading.fence !== undefined && mark.startsWith(reading.fence) && /^[`~]+$/.test(mark)) {
    flush(reading);
    reading.fence = undefined;
    reading.badLines = 0;
    return;
  }
  if (marksBadExample(folded)) reading.badLines = 8;
  else if (reading.badLines > 0) reading.badLines -= 1;
  addCode(reading, folded, line);
}

const HEADING = /^\s{0,3}(#{1,6})\s+(.*)$/;
const FENCE = /^\s*(?:[-*+>]\s+|\d+[.)]\s+|>\s*)*(`{3,}|~{3,})/;
const NEW_ITEM = /^\s*(?:>\s*)*(?:[-*+•]\s|\d{1,3}[.)]\s|\||- \[)/;

function takeOutsideFence(reading: Reading, folded: string, line: number): void {
  const fence = FENCE.exec(folded);
  if (fence && !reading.comment) {
    flush(reading);
    reading.fence = fence[1] ?? '```';
    reading.block += 1;
    return;
  }
  const heading = HEADING.exec(folded);
  if (heading && !reading.comment) {
    takeHeading(reading, { level: heading[1]?.length ?? 1, text: heading[2] ?? '', line });
    return;
  }
  takeProse(reading, folded, line);
}

function takeHeading(reading: Reading, { level, text, line }: { level: number; text: string; line: number }): void {
  flush(reading);
  reading.block += 1;
  reading.lead = false;
  reading.guardedLevels = reading.guardedLevels.filter((open) => open < level);
  open(reading, 'prose', text, line);
  flush(reading);
  if (level > 1 && leadsToExamples(text)) reading.guardedLevels.push(level);
}

function takeProse(reading: Reading, folded: string, line: number): void {
  if (folded.includes('<!--') && !reading.comment) {
    flush(reading);
    reading.comment = true;
  }
  const text = folded.replace(/^\s*(?:>\s?)+/, '').replaceAll('**', '');
  if (NEW_ITEM.test(folded) || reading.draft === undefined) openProse(reading, { folded, text, line });
  else append(reading, ` ${text.trim()}`, line);
  if (reading.comment && folded.includes('-->')) {
    flush(reading);
    reading.comment = false;
  } else if (text.endsWith(':') && leadsToExamples(text)) reading.lead = true;
}

const INDENTED = /^\s|^>|^(?:[-*+•]|\d{1,3}[.)]|\|)/;

/** A lead holds for the list or fence below it, and ends with the next plain paragraph. */
function openProse(reading: Reading, { folded, text, line }: { folded: string; text: string; line: number }): void {
  flush(reading);
  if (!INDENTED.test(folded)) reading.lead = false;
  open(reading, reading.comment ? 'comment' : 'prose', text.trim(), line);
}

const CONTINUES = /(?:\\|\||&&|\|\||[a-z"')]\s`)\s*$/;

function addCode(reading: Reading, folded: string, line: number): void {
  if (reading.draft === undefined) open(reading, 'code', folded.trim(), line);
  else append(reading, ` ${folded.trim()}`, line);
  if (!CONTINUES.test(folded)) flush(reading);
  else if (reading.draft !== undefined) reading.draft.text = reading.draft.text.replace(/\s*[\\`]\s*$/, '');
}

function open(reading: Reading, kind: UnitKind, text: string, line: number): void {
  const guarded = reading.guardedLevels.length > 0 || reading.lead || reading.badLines > 0;
  reading.draft = { kind, text, starts: [{ offset: 0, line }], guarded };
}

function append(reading: Reading, text: string, line: number): void {
  const { draft } = reading;
  if (draft === undefined) return;
  if (draft.text.length + text.length > UNIT_LIMIT) {
    flush(reading);
    open(reading, draft.kind, text.trim(), line);
    return;
  }
  draft.starts.push({ offset: draft.text.length, line });
  draft.text += text;
}

function flush(reading: Reading): void {
  const { draft } = reading;
  if (draft === undefined) return;
  reading.draft = undefined;
  const { kind, text, starts, guarded } = draft;
  if (text !== '') reading.units.push({ kind, text, starts, block: reading.block, guarded, depth: 0 });
}
