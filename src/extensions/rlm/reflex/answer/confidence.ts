// Owns the confidence that a rule states: how much of the question its best quote shares, never near certainty.
const MOST = 0.8;

/** Two decimals, 0 without a quote. */
export function confidenceOf(scores: readonly number[]): number {
  const best = scores.reduce((left, right) => Math.max(left, right), 0);
  return Math.round(Math.min(MOST, best) * 100) / 100;
}
