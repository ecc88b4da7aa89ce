// Owns cutting a text into passages that can be quoted and understood alone: sentences of a paragraph, items, table rows, lines of code,
// headings. Knows no question. Invariant: every passage is a stretch of the text as it stands, none overlaps; linear in the text.
import { cutSentences } from './cut-sentences.ts';

export interface Passage {
  /** UTF-16 offsets into the text, half-open. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly kind: 'sentence' | 'item' | 'code' | 'heading';
  /** The id that its line begins with: `FACT:LC-001 …`, `[R1.28] …`. */
  readonly tag: string | null;
  /** The heading above it; empty: none. */
  readonly under: string;
}

interface Unit {
  start: number;
  end: number;
  readonly kind: Passage['kind'] | 'prose';
  readonly tag: string | null;
  readonly under: string;
}

/** An item that is longer is cut into sentences. */
const LONGEST_ITEM = 320;

export function cutPassages(text: string): readonly Passage[] {
  return unitsOf(text).flatMap((unit) => {
    const { kind, tag, under } = unit;
    const whole = kind !== 'prose' && unit.end - unit.start <= LONGEST_ITEM;
    const parts = whole || kind === 'code' ? [unit] : cutSentences(text, unit);
    return parts.map(({ start, end }, at) => ({
      start,
      end,
      text: text.slice(start, end),
      kind: kind === 'prose' ? ('sentence' as const) : kind,
      tag: at === 0 ? tag : null,
      under,
    }));
  });
}

const FENCE = /^\s*(?:```|~~~)/;
const HEADING = /^#{1,6}\s+/;
const TAG = /^(?:[-*]\s+)?(?:FACT:\s*([^\s:]{1,40})|\[?([A-Z][A-Z0-9]{0,9}[-.]?\d[\d.]{0,9})\]?[:\s])/;
const MARK = /^(?:[-*+•>]|\d{1,3}[.)])\s+/;
const ROW = /^\|/;
const RULE = /^[|:\-=_*\s]+$/;
/** `Owner: the town`, `port = 80`, a line of a log. */
const ENTRY =
  /^(?:\p{L}[\p{L}\p{N}_./()-]{0,30}(?: [\p{L}\p{N}_./()-]{1,30}){0,3}:\s+\S|[\w.-]{1,60}\s*=|\[?\d{4}-\d\d-\d\d|\d\d:\d\d)/u;
const INDENTED = /^(?: {4}|\t)\S/;

interface Walk {
  readonly units: Unit[];
  under: string;
  fenced: boolean;
  /** A line that only goes on may be joined to the last unit. */
  open: boolean;
}

function unitsOf(text: string): readonly Unit[] {
  const walk: Walk = { units: [], under: '', fenced: beginsFenced(text), open: false };
  for (let start = 0; start < text.length; ) {
    const end = lineEnd(text, start);
    takeLine(walk, text, { start, end });
    start = end + (text.startsWith('\r\n', end) ? 2 : 1);
  }
  return walk.units;
}

/** A piece of a document may begin inside a fence: the first fence closes it when it is bare and what follows would not pair. */
function beginsFenced(text: string): boolean {
  const fences = text.match(/^[ \t]*(?:```|~~~).*$/gm) ?? [];
  const [first = '', second = ''] = fences;
  const isBare = (fence: string): boolean => /^\s*(?:`+|~+)\s*$/.test(fence);
  return isBare(first) && (second === '' || !isBare(second));
}

function lineEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) if (text[at] === '\n' || text[at] === '\r') return at;
  return text.length;
}

function takeLine(walk: Walk, text: string, line: { readonly start: number; readonly end: number }): void {
  const raw = text.slice(line.start, line.end);
  const bare = raw.trim();
  if (FENCE.test(raw)) {
    walk.fenced = !walk.fenced;
    walk.open = false;
  } else if (bare === '' || RULE.test(bare)) {
    walk.open = false;
  } else if (walk.fenced || (INDENTED.test(raw) && !walk.open)) {
    addUnit(walk, { ...trimmed(raw, line.start), kind: 'code', tag: null, under: walk.under });
    walk.open = false;
  } else {
    takeText(walk, text, line);
  }
}

function takeText(walk: Walk, text: string, line: { readonly start: number; readonly end: number }): void {
  const raw = text.slice(line.start, line.end);
  const { start, end } = trimmed(raw, line.start);
  const bare = raw.trim();
  const heading = HEADING.exec(bare)?.[0];
  if (heading !== undefined) {
    walk.under = bare.slice(heading.length);
    addUnit(walk, { start: start + heading.length, end, kind: 'heading', tag: null, under: '' });
    walk.open = false;
    return;
  }
  const tag = TAG.exec(bare);
  const mark = MARK.exec(bare)?.[0] ?? '';
  const last = walk.units.at(-1);
  const isEntry = ENTRY.test(bare) && !(walk.open && last?.kind === 'prose' && !endsSentence(text, last.end));
  if (walk.open && last !== undefined && tag === null && mark === '' && !ROW.test(bare) && !isEntry) {
    last.end = end;
    return;
  }
  const isItem = tag !== null || mark !== '' || ROW.test(bare) || isEntry;
  addUnit(walk, {
    start: start + mark.length,
    end,
    kind: isItem ? 'item' : 'prose',
    tag: tag?.[1] ?? tag?.[2] ?? null,
    under: walk.under,
  });
  walk.open = tag?.[1] === undefined && !ROW.test(bare);
}

/** A line of a paragraph goes on in the next, whatever that looks like. */
function endsSentence(text: string, end: number): boolean {
  return /[.!?:;]["'”’)\]*`]?$/.test(text.slice(Math.max(0, end - 2), end));
}

function addUnit(walk: Walk, unit: Unit): void {
  if (unit.end > unit.start) walk.units.push(unit);
}

function trimmed(raw: string, from: number): { readonly start: number; readonly end: number } {
  const lead = raw.length - raw.trimStart().length;
  return { start: from + lead, end: from + raw.trimEnd().length };
}
