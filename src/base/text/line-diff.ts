// Owns the difference of two texts as unified lines, by the npm package `diff`, which is loaded with the first one. Knows no file.
// Invariant: taking the lines with `-` out and the ones with `+` in turns the old text into the new one; very different texts are shown
// as gone and come as a whole, never slowly.
import { plural, sliceText } from '../text.ts';

export interface LineDiff {
  /** `@@ … @@` hunks, every line ended; empty for equal texts. */
  readonly text: string;
  readonly added: number;
  readonly removed: number;
}

const CONTEXT = 3;
/** Edits looked for before everything is given up as one replaced block. */
const MAX_EDITS = 1_500;

const SHOWN_LINES = 120;
const SHOWN_CHARACTERS = 500;

const DECIDED_CHARACTERS = 20_000;

/** A difference that somebody decides by: whole; of a very long one the lines that come in, and what is not shown is said at its end. */
export function decidedDiff(text: string): string {
  const whole = text.replace(/\n$/, '');
  if (whole.length <= DECIDED_CHARACTERS) return whole;
  const added = whole.split('\n').filter((line) => /^(?:\+|@@)/.test(line));
  const shown = sliceText(added.join('\n'), DECIDED_CHARACTERS);
  const left = whole.length - shown.length;
  return `${shown}\n… NOT SHOWN: ${plural(left, 'more character')} of this change`;
}

/** As much of a difference as is shown unasked, and how many lines are left out; a line that is cut says so. */
export function shownDiff(text: string): { readonly text: string; readonly more: number } {
  const lines = text.replace(/\n$/, '').split('\n');
  const shown = lines.slice(0, SHOWN_LINES).map(shownLine);
  return { text: shown.join('\n'), more: lines.length - shown.length };
}

function shownLine(line: string): string {
  const shown = sliceText(line, SHOWN_CHARACTERS);
  return shown === line ? line : `${shown}… ${plural(line.length - shown.length, 'more character')}`;
}

interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

export async function lineDiff(before: string, after: string): Promise<LineDiff> {
  if (before === after) return { text: '', added: 0, removed: 0 };
  const { structuredPatch } = await import('diff');
  const options = { context: CONTEXT, maxEditLength: MAX_EDITS };
  const hunks = structuredPatch('', '', before, after, '', '', options)?.hunks ?? [replaced(before, after)];
  const count = (sign: string) => hunks.reduce((sum, { lines }) => sum + lines.filter((l) => l[0] === sign).length, 0);
  return { text: hunks.map(hunkText).join(''), added: count('+'), removed: count('-') };
}

function hunkText({ oldStart, oldLines, newStart, newLines, lines }: Hunk): string {
  const from = `${oldLines === 0 ? oldStart - 1 : oldStart},${oldLines}`;
  const to = `${newLines === 0 ? newStart - 1 : newStart},${newLines}`;
  return `@@ -${from} +${to} @@\n${lines.join('\n')}\n`;
}

function replaced(before: string, after: string): Hunk {
  const [gone, come] = [signed(before, '-'), signed(after, '+')];
  const count = (lines: readonly string[]) => lines.filter((line) => !line.startsWith('\\')).length;
  return { oldStart: 1, oldLines: count(gone), newStart: 1, newLines: count(come), lines: [...gone, ...come] };
}

function signed(text: string, sign: string): readonly string[] {
  const lines = text.split('\n').map((line) => sign + line);
  const last = lines.pop();
  return last === sign || last === undefined ? lines : [...lines, last, '\\ No newline at end of file'];
}
