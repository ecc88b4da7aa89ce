// Owns the small forms that all texts of a run share: a block with its heading, a quotation. Pure.
// Invariant: one item, one line; what is cut shows it; a list that is too long says how much is missing.
import { oneLine as fold } from '#base/text.ts';
import type { RunGap } from '../run/run-outcome.ts';

const WIDEST = 300;

export function oneLine(text: string, most = WIDEST): string {
  return fold(text, most);
}

/** Nothing when there is nothing to list. */
export function block(heading: string, lines: readonly string[], most = 60): readonly string[] {
  if (lines.length === 0) return [];
  const more = lines.length > most ? [`  … and ${lines.length - most} more: --json shows all`] : [];
  return ['', heading, ...lines.slice(0, most).map((line) => `  ${line}`), ...more];
}

export function gapLines(gaps: readonly RunGap[]): readonly string[] {
  return gaps.map(({ what, why }) => oneLine(`${what}: ${why}`));
}
