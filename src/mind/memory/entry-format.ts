// Owns the text form of a memory file: entries joined by a line that holds only a section sign (core notes 2.2).
// Knows no file and no threat. Invariant: parsing what `joinEntries` made gives the same entries, and `canonical` says
// whether that holds for a text that somebody else made.
import { wellFormed } from '#base/text.ts';

const SECTION_SIGN = '§';
const JOINT = `\n${SECTION_SIGN}\n`;
/** A line with only the sign; blanks beside it, as editors leave them, are read and then count as another form. */
const SEPARATOR = /(?:^|\n)[ \t]{0,80}§[ \t]{0,80}(?=\n|$)/;

export interface ParsedEntries {
  readonly entries: readonly string[];
  /** False when writing the entries back would change more than blank edges: the text was brought into another form by hand. */
  readonly canonical: boolean;
}

/** Reads a file's text; a byte order mark and blanks at both ends do not count. */
export function parseEntries(raw: string): ParsedEntries {
  const text = raw.replace(/^\uFEFF/, '').trim();
  const entries = text
    .replace(/\r\n?/g, '\n')
    .split(SEPARATOR)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return { entries, canonical: joinEntries(entries) === text && !entries.some(holdsDelimiter) };
}

/** No trailing newline; no entries give the empty text. */
export function joinEntries(entries: readonly string[]): string {
  return entries.join(JOINT);
}

/** An entry as it is stored: LF line ends, no blank edges, nothing that UTF-8 cannot carry. */
export function normalizeEntry(text: string): string {
  return wellFormed(text)
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, '\n')
    .trim();
}

/** Would this entry be read back as several? */
export function holdsDelimiter(entry: string): boolean {
  return entry.split('\n').some((line) => line.trim() === SECTION_SIGN);
}

/** Each entry once, at its first place. */
export function withoutDuplicates(entries: readonly string[]): readonly string[] {
  return [...new Set(entries)];
}

/** Characters as the limits count them: Unicode code points, so that files of existing users keep their size. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** `45% — 990/2,200 chars`. */
export function usageText(characters: number, limit: number): string {
  const percent = limit > 0 ? Math.floor((characters / limit) * 100) : 100;
  return `${percent}% — ${grouped(characters)}/${grouped(limit)} chars`;
}

function grouped(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
