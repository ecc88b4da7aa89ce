// Owns cutting a text into passages that can be quoted and understood alone: sentences of a paragraph, items, table rows, lines of code,
// headings. Who writes an answer and who grades it cut by it. Knows no question. Invariants: every passage is a stretch of the text as it
// stands, none overlaps; linear; in doubt a line goes on in the next, so that what is called whole is never a part.
import { cutSentences, isLeftOpen, type Stretch, trimmed } from './sentences.ts';

export interface Passage extends Stretch {
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
    const parts = whole || kind === 'code' ? [unit] : cutSentences(text, 'prose', { within: unit });
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
/** Such a line is never the second half of a sentence. */
const SETTING = /^(?:[\w.-]{1,60}\s*=|\[[\w .-]{1,60}\]$)/;
const INDENTED = /^(?: {4}|\t)\S/;

interface Walk {
  readonly text: string;
  readonly units: Unit[];
  under: string;
  fenced: boolean;
  /** A line that only goes on may be joined to the last unit. */
  open: boolean;
  /** The last line, and the longest between two blank ones. */
  last: string;
  width: number;
}

function unitsOf(text: string): readonly Unit[] {
  const walk: Walk = { text, units: [], under: '', fenced: beginsFenced(text), open: false, last: '', width: 0 };
  for (let start = 0; start < text.length; ) {
    const end = lineEnd(text, start);
    if (walk.width === 0) walk.width = widest(text, start);
    takeLine(walk, text.slice(start, end), start);
    start = nextLine(text, end);
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
  const end = /[\r\n]/g;
  end.lastIndex = from;
  return end.exec(text)?.index ?? text.length;
}

function nextLine(text: string, end: number): number {
  return end + (text.startsWith('\r\n', end) ? 2 : 1);
}

/** Narrower than this nobody wraps by hand. */
const NARROWEST = 60;

function widest(text: string, from: number): number {
  let width = NARROWEST;
  for (let start = from; start < text.length; ) {
    const end = lineEnd(text, start);
    if (text.slice(start, end).trim() === '') break;
    width = Math.max(width, end - start);
    start = nextLine(text, end);
  }
  return width;
}

function takeLine(walk: Walk, raw: string, start: number): void {
  const bare = raw.trim();
  if (bare === '') walk.width = 0;
  if (FENCE.test(raw)) {
    walk.fenced = !walk.fenced;
    walk.open = false;
  } else if (bare === '' || RULE.test(bare)) {
    walk.open = false;
  } else if (walk.fenced || (INDENTED.test(raw) && !walk.open)) {
    addUnit(walk, { ...trimmed(raw, start), kind: 'code', tag: null, under: walk.under });
    walk.open = false;
  } else takeText(walk, raw, trimmed(raw, start));
  walk.last = raw;
}

function takeText(walk: Walk, raw: string, { start, end }: Stretch): void {
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
  const begins = tag !== null || mark !== '' || ROW.test(bare) || SETTING.test(bare);
  const last = walk.units.at(-1);
  if (walk.open && last !== undefined && !begins && goesOn(walk, raw)) {
    last.end = end;
    return;
  }
  addUnit(walk, {
    start: start + mark.length,
    end,
    kind: begins || ENTRY.test(bare) ? 'item' : 'prose',
    tag: tag?.[1] ?? tag?.[2] ?? null,
    under: walk.under,
  });
  walk.open = tag?.[1] === undefined && !ROW.test(bare);
}

const DENSE = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u;

/** Was the line before wrapped, or left open? By its form: no end of a sentence, and full, or the next begins small or indented. */
function goesOn({ last, width }: Walk, next: string): boolean {
  const line = last.trimEnd();
  const bare = next.trimStart();
  if (next.length > bare.length && !/^\s/.test(last)) return true;
  if (/[.!?…。！？]["'”’»)\]*`]*$/u.test(line)) return false;
  if (/[,;:(–—-]$/u.test(line) || /^["'“(*_`]*\p{Ll}/u.test(bare)) return true;
  if (isLeftOpen(line)) return true;
  const first = DENSE.test(bare) ? 0 : 1 + (/^\S*/.exec(bare)?.[0].length ?? 0);
  return line.length + first > width || (first === 0 && line.length === width);
}

function addUnit(walk: Walk, unit: Unit): void {
  if (unit.end > unit.start) walk.units.push(unit);
}
