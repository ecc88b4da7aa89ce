// Owns the finding of what a reader cannot see: invisible and direction characters, letters of another script, text far down or far right.
// Knows no rule. Invariant: linear; joiners in emoji and in scripts that need them, one variant mark after a character, flags, soft hyphens
// and direction marks beside right-to-left letters are ordinary.
import type { Severity } from '../finding.ts';
import { disguisedWords } from './fold.ts';

export interface HiddenMark {
  readonly id: string;
  readonly severity: Severity;
  readonly line: number;
  readonly excerpt: string;
}

interface MarkRule {
  readonly id: string;
  readonly severity: Severity;
  readonly pattern: RegExp;
}

const MARKS: readonly MarkRule[] = [
  {
    id: 'tag-characters',
    severity: 'critical',
    pattern: /(?<!\u{1F3F4}[\u{E0020}-\u{E007F}]{0,8})[\u{E0020}-\u{E007E}]{3}/u,
  },
  { id: 'variation-bytes', severity: 'critical', pattern: /[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]{4}/u },
  { id: 'zero-width-code', severity: 'critical', pattern: /[\u200B-\u200D\u2060-\u2064\uFEFF]{8}/ },
  { id: 'direction-override', severity: 'high', pattern: /[\u202D\u202E]/ },
  { id: 'direction-isolate', severity: 'medium', pattern: /[\u2066-\u2069\u202A\u202B]/ },
  { id: 'split-word', severity: 'high', pattern: /[A-Za-z][\u200B-\u200D\u2060-\u2064\uFEFF\u180E][A-Za-z]/ },
  { id: 'blank-letters', severity: 'high', pattern: /[\u3164\u115F\u1160\uFFA0\u2800]{3}/ },
  { id: 'invisible-run', severity: 'medium', pattern: /[\u200B\u2060-\u2064]{2}/ },
  { id: 'control-characters', severity: 'medium', pattern: /(?![\t\n\v\f\r])\p{ASCII}(?<=\p{Cc})(?!\[)/u },
  { id: 'terminal-escape', severity: 'high', pattern: /\p{Cc}\[(?:8m|[0-9;]*[HJfsu])/u },
];

const ANY_MARK = /(?![\t\r\n])\p{Cc}|\p{Default_Ignorable_Code_Point}|\u2800/u;
const NOT_ASCII = /\P{ASCII}/u;
const BURIED = /(?:[ \t]*\r?\n){60}/g;
const MANY_BLANKS = /\n\s{58}/;
const FAR_RIGHT = /\S[ \t]{160,}\S[^\n]{8}/g;

export function hiddenMarks(text: string): readonly HiddenMark[] {
  const found: HiddenMark[] = [...buried(text)];
  if (!NOT_ASCII.test(text) && !ANY_MARK.test(text)) return found;
  let line = 0;
  for (const raw of text.split('\n', 200_000)) {
    line += 1;
    if (raw.length > 0 && (NOT_ASCII.test(raw) || ANY_MARK.test(raw)))
      found.push(...marksOfLine(raw.slice(0, 20_000), line));
    if (found.length > 60) break;
  }
  return found;
}

function marksOfLine(raw: string, line: number): readonly HiddenMark[] {
  const found: HiddenMark[] = [];
  if (ANY_MARK.test(raw)) {
    for (const { id, severity, pattern } of MARKS)
      if (pattern.test(raw) && !isByteOrderMark(raw, line))
        found.push({ id, severity, line, excerpt: spelledOut(raw) });
  }
  const disguised = disguisedWords(raw);
  if (disguised.length > 0)
    found.push({ id: 'look-alike-letters', severity: 'high', line, excerpt: disguised.slice(0, 4).join(' ') });
  return found;
}

function isByteOrderMark(raw: string, line: number): boolean {
  return line === 1 && raw.startsWith('\uFEFF') && !ANY_MARK.test(raw.slice(1));
}

function buried(text: string): readonly HiddenMark[] {
  const found: HiddenMark[] = [];
  BURIED.lastIndex = 0;
  const run = MANY_BLANKS.test(text) ? BURIED.exec(text) : null;
  if (run !== null) {
    const rest = text.slice(run.index).trimStart();
    if (rest !== '')
      found.push({
        id: 'far-below',
        severity: 'high',
        line: lineOf(text, text.length - rest.length),
        excerpt: rest.slice(0, 120),
      });
  }
  const right =
    text.includes(' '.repeat(160)) || text.includes('\t'.repeat(40)) ? [...text.matchAll(FAR_RIGHT)].slice(0, 3) : [];
  for (const match of right)
    found.push({
      id: 'far-right',
      severity: 'high',
      line: lineOf(text, match.index),
      excerpt: match[0].slice(-100).trim(),
    });
  return found;
}

export function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** Invisible characters by their number, for people to see. */
export function spelledOut(text: string): string {
  return text
    .slice(0, 400)
    .replace(
      /[\p{Default_Ignorable_Code_Point}\p{Cc}\u2800]/gu,
      (mark) => `\\u{${(mark.codePointAt(0) ?? 0).toString(16)}}`,
    )
    .slice(0, 160);
}

const IGNORABLE = /[\p{Cc}\p{Default_Ignorable_Code_Point}]|[\u{FFF9}-\u{FFFB}]/u;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const JOINS =
  /[\p{Extended_Pictographic}\p{Emoji_Modifier}]|[\p{Script=Arabic}\p{Script=Syriac}\p{Lo}]|\p{M}|\u{FE0F}/u;
const BLACK_FLAG = 0x1f3f4;

interface Around {
  readonly before: string;
  readonly rightToLeft: boolean;
  readonly inFlag: boolean;
}

/** The first character that no text needs, as `U+200B at 12` (offset in characters), or undefined. */
export function findInvisible(text: string): string | undefined {
  const rightToLeft = RIGHT_TO_LEFT.test(text);
  let before = '';
  let inFlag = false;
  let at = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    inFlag = code === BLACK_FLAG || (inFlag && isTag(code));
    if (IGNORABLE.test(character) && !isOrdinary(code, { before, rightToLeft, inFlag })) {
      return `U+${code.toString(16).toUpperCase().padStart(4, '0')} at ${at}`;
    }
    before = character;
    at += 1;
  }
  return undefined;
}

function isOrdinary(code: number, { before, rightToLeft, inFlag }: Around): boolean {
  if (code === 0x09 || code === 0x0a || code === 0xad) return true;
  if (code === 0x200c || code === 0x200d) return JOINS.test(before);
  if (isDirectionMark(code)) return rightToLeft;
  if (isTag(code)) return inFlag;
  return isVariantMark(code) && before !== '' && !IGNORABLE.test(before);
}

/** Marks, embeddings and isolates; overrides (U+202D, U+202E) show text in another order than it is read and are never ordinary. */
function isDirectionMark(code: number): boolean {
  return (
    code === 0x061c || within(code, 0x200e, 0x200f) || within(code, 0x202a, 0x202c) || within(code, 0x2066, 0x2069)
  );
}

function isTag(code: number): boolean {
  return within(code, 0xe0020, 0xe007f);
}

function isVariantMark(code: number): boolean {
  return within(code, 0xfe00, 0xfe0f) || within(code, 0xe0100, 0xe01ef);
}

function within(code: number, first: number, last: number): boolean {
  return code >= first && code <= last;
}
