// Owns the arithmetic of what learning may cost (issue: Cost; notes core 3, row 7): tokens of the last 7 days, and the interval by yield.
// Pure: knows no table and no clock. Invariant: more learning never makes more room for learning.
import type { NudgeIntervals } from '../counters/nudge-counters.ts';

export interface BudgetRules {
  /** Share of all other tokens of the last 7 days. */
  readonly share: number;
  /** Tokens a day in any case. */
  readonly floorPerDay: number;
}

export const DEFAULT_BUDGET: BudgetRules = { share: 0.1, floorPerDay: 20_000 };
const BUDGET_DAYS = 7;
export const BUDGET_MS = BUDGET_DAYS * 86_400_000;

/** Tokens of the last 7 days. */
export interface TokensSpent {
  /** Reviews, flushes, recall summaries, judgements. */
  readonly learning: number;
  /** Everything else. */
  readonly other: number;
}

export interface BudgetState extends TokensSpent {
  readonly allowed: number;
  readonly left: number;
}

export function budgetState(spent: TokensSpent, rules: BudgetRules = DEFAULT_BUDGET): BudgetState {
  const allowed = Math.max(Math.floor(spent.other * rules.share), rules.floorPerDay * BUDGET_DAYS);
  return { ...spent, allowed, left: Math.max(0, allowed - spent.learning) };
}

/** Reviews that the yield is counted over. */
const YIELD_WINDOW = 10;
const LOW_YIELD = 0.2;
const LONGEST_INTERVAL = 80;

/** Kept entries per review over the last ten; undefined while there were fewer. `kept` is oldest first. */
export function learningYield(kept: readonly number[]): number | undefined {
  if (kept.length < YIELD_WINDOW) return undefined;
  const last = kept.slice(-YIELD_WINDOW);
  return last.reduce((sum, count) => sum + count, 0) / YIELD_WINDOW;
}

/** By what the intervals are multiplied: doubled by each review under a low yield, back to 1 with the first kept entry. */
export function intervalFactor(kept: readonly number[]): number {
  let factor = 1;
  for (const [index, count] of kept.entries()) {
    const current = learningYield(kept.slice(0, index + 1));
    if (count > 0) factor = 1;
    else if (current !== undefined && current < LOW_YIELD) factor = Math.min(LONGEST_INTERVAL, factor * 2);
  }
  return factor;
}

export function stretchIntervals(intervals: NudgeIntervals, factor: number): NudgeIntervals {
  const stretch = (base: number) => Math.max(base, Math.min(LONGEST_INTERVAL, base * factor));
  return { memory: stretch(intervals.memory), skills: stretch(intervals.skills) };
}
