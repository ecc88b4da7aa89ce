// Owns the small forms that all texts of a run share: a block with its heading, a quotation, a place. Pure.
// Invariant: one item, one line; what is cut shows it; a list that is too long says how much is missing.
import { ellipsize } from '#base/text.ts';
import type { RunGap, SourcePlace } from '../run/run-outcome.ts';

const WIDEST = 300;

export function oneLine(text: string, most = WIDEST): string {
  return ellipsize(text.replace(/\s+/g, ' ').trim(), most);
}

/** Nothing when there is nothing to list. */
export function block(heading: string, lines: readonly string[], most = 60): readonly string[] {
  if (lines.length === 0) return [];
  const more = lines.length > most ? [`  … and ${lines.length - most} more: --json shows all`] : [];
  return ['', heading, ...lines.slice(0, most).map((line) => `  ${line}`), ...more];
}

/** `a.txt:12-14` */
export function placeText({ source_path, start_line, end_line }: SourcePlace): string {
  return `${source_path}:${start_line === end_line ? start_line : `${start_line}-${end_line}`}`;
}

export function gapLines(gaps: readonly RunGap[]): readonly string[] {
  return gaps.map(({ what, why }) => oneLine(`${what}: ${why}`));
}
