// Owns the lines below a candidate that say why a write failed and what is not as it should be (curator notes 8.5). Pure.
// Invariant: what a program or a file said stays on one line, inlined and bounded.
import { cutPoints } from '#base/text/code-points.ts';
import type { VerifyReport } from '#mind/skills/door/verify/verifier.ts';
import { inlineText } from '../text/inline-text.ts';

export interface TriedResult {
  readonly reason?: string | null;
  readonly verify?: VerifyReport;
  readonly warnings?: readonly string[];
}

const LONGEST = 300;
const LAST_LINES = 3;
const MOST_WARNINGS = 5;

export function entryDetails(tried: TriedResult | null | undefined): readonly string[] {
  if (!tried) return [];
  const warnings = tried.warnings ?? [];
  const rest = warnings.length - MOST_WARNINGS;
  return [
    ...(tried.verify?.passed === false ? [failedStage(tried.verify)] : []),
    ...warnings.slice(0, MOST_WARNINGS).map((warning) => `warning: ${oneLine(warning)}`),
    ...(rest > 0 ? [`and ${rest} more warnings`] : []),
  ].map((text) => `  - ${text}`);
}

function failedStage({ failed_stage: stage = 'verification', exit_code: code, output }: VerifyReport): string {
  const lines = output.split(/\r?\n/).filter((line) => line.trim() !== '');
  const last = oneLine(lastPoints(lines.slice(-LAST_LINES).join(' | ')));
  return `${oneLine(stage)} failed with exit code ${code}${last === '' ? ', without output' : `: ${last}`}`;
}

/** The end says more than the beginning. */
function lastPoints(text: string): string {
  const points = [...text.slice(-2 * LONGEST)];
  return points.length <= LONGEST ? points.join('') : `…${points.slice(1 - LONGEST).join('')}`;
}

function oneLine(text: string): string {
  return cutPoints(inlineText(text).replaceAll('`', "'").trim(), LONGEST);
}
