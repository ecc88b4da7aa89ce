// Owns a measurement as a table for people. Pure. Invariant: the same figures as the JSON; a price that is not known says so.
import { inlineText } from '../text/inline-text.ts';
import type { MeasuredCost, MeasuredVerdict, MeasuredVersion, SkillMeasurement } from './measure-skill.ts';

export const MEASURE_COLUMNS: readonly string[] = [
  'version',
  'by',
  'what',
  'when',
  'uses',
  'worked',
  'failed',
  'rate',
  'US$ a use',
  'tokens a use',
  'verdict',
];

export function measurementRows({ versions }: SkillMeasurement): readonly (readonly string[])[] {
  return versions.map((version) => [
    String(version.version),
    inlineText(version.actor ?? '-'),
    whatOf(version),
    version.at ?? '-',
    String(version.uses),
    String(version.worked),
    String(version.failed),
    version.success_rate === null ? '-' : `${Math.round(version.success_rate * 100)} %`,
    moneyOf(version.cost),
    version.cost.tokens_per_use === null ? '-' : String(Math.round(version.cost.tokens_per_use)),
    verdictText(version.verdict),
  ]);
}

function whatOf({ action, rolled_back_at: undone }: MeasuredVersion): string {
  const what = inlineText(action ?? 'before the first known write');
  return undone === null ? what : `${what}, undone`;
}

function moneyOf({ calls, unpriced_calls: unpriced, usd_per_use: usd }: MeasuredCost): string {
  if (calls === 0) return '-';
  if (usd === null) return 'unknown';
  const shown = usd.toFixed(usd > 0 && usd < 0.01 ? 6 : 4);
  return unpriced === 0 ? shown : `${shown} + unknown`;
}

function verdictText({
  verdict,
  against,
  uses,
  uses_needed: needed,
  probability_worse: worse,
}: MeasuredVerdict): string {
  if (verdict === 'first') return '-';
  if (verdict === 'not-enough-uses') return `not enough uses (${uses} of ${needed})`;
  const word = verdict === 'no-clear-difference' ? 'no clear difference from' : `${verdict} than`;
  return `${word} version ${against} (P(worse) ${(worse ?? 0).toFixed(2)})`;
}
