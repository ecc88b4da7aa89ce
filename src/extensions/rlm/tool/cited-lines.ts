// Owns the lines in which the tool `recursive_read` shows a model what an answer rests on: places, quotations, what is left out. Pure.
// Invariant: a quotation is shown as it stands, in one line, and a cut is visible; a list that is too long says how much of it is missing.
import { oneLine as fold } from '#base/text.ts';
import type { RunGap } from '../run/run-outcome.ts';

const QUOTE = 400;
export const SENTENCE = 2_000;
const MOST = 40;

export function quoted(text: string): string {
  return `"${oneLine(text)}"`;
}

export function oneLine(text: string, most: number = QUOTE): string {
  return fold(text, most);
}

/** Quotations that an answer repeats word for word need only their place. */
export function isSaid(quote: string, answer: string): boolean {
  return answer.includes(fold(quote));
}

/** A heading with its lines; nothing without lines. */
export function block(heading: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  const shown = lines.slice(0, MOST).map((line) => `- ${line}`);
  const more = lines.length > MOST ? [`- and ${lines.length - MOST} more`] : [];
  return ['', heading, ...shown, ...more];
}

export function gapLines(gaps: readonly RunGap[]): readonly string[] {
  return gaps.map(({ what, why }) => oneLine(`${what}: ${why}`));
}

/** The last line: where a person sees everything. */
export function runLine(run_id: string, kept: boolean): readonly string[] {
  return kept ? ['', `Recorded as ${run_id}; the owner sees every step with: talaria rlm show ${run_id}`] : [];
}
