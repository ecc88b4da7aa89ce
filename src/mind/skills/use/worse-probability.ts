// Owns the chance that one rate lies below another, given what was counted of both. Pure and exact: no sampling.
// Knows no skill. Invariant: uniform priors; symmetric: P(a below b) + P(b below a) = 1.

/** How often something went well and how often not. */
export interface UseCounts {
  readonly successes: number;
  readonly failures: number;
}

/**
 * P(rate of `newer` < rate of `older`) when each rate is Beta(1 + successes, 1 + failures). A finite sum for whole counts: the older
 * rate's parameter steps from 1 to its value, each step adding what the integral over it adds.
 */
export function worseProbability(older: UseCounts, newer: UseCounts): number {
  const a = 1 + newer.successes;
  const b = 1 + newer.failures;
  const c = 1 + older.successes;
  const d = 1 + older.failures;
  let sum = 0;
  for (let i = 0; i < c; i += 1)
    sum += Math.exp(logBeta(a + i, b + d) - Math.log(d + i) - logBeta(1 + i, d) - logBeta(a, b));
  return Math.min(1, Math.max(0, sum));
}

function logBeta(a: number, b: number): number {
  return logFactorial(a - 1) + logFactorial(b - 1) - logFactorial(a + b - 1);
}

const known: number[] = [0, 0];

function logFactorial(n: number): number {
  for (let next = known.length; next <= n; next += 1) known[next] = (known[next - 1] ?? 0) + Math.log(next);
  return known[n] ?? 0;
}
