// Owns what `talaria cost` says about learning: budget, yield, intervals, reviews. Pure but for what its readers read.
// Invariant: the numbers are those that decide whether a review runs.
import type { SessionStore } from '#core/agent/session-store.ts';
import type { NudgeIntervals } from '../counters/nudge-counters.ts';
import {
  type BudgetRules,
  type BudgetState,
  budgetState,
  intervalFactor,
  learningYield,
  stretchIntervals,
} from './learning-budget.ts';
import { spentTokens } from './spent-tokens.ts';

/** Reviews that the factor is folded over: far more than a doubling can need. */
export const REVIEWS_READ = 40;

export interface LearningReport {
  /** Tokens of the last 7 days. */
  readonly budget: BudgetState;
  /** Kept entries per review over the last ten; absent while there were fewer. */
  readonly yield?: number;
  /** As they are now, stretched by a low yield. */
  readonly intervals: NudgeIntervals;
  readonly factor: number;
  /** Finished reviews that were looked at, and what they kept. */
  readonly reviews: { readonly finished: number; readonly kept: number; readonly due: number };
}

export interface ReportParts {
  readonly store: Pick<SessionStore, 'costs'>;
  /** Kept entries of finished reviews, oldest first. */
  readonly kept: readonly number[];
  readonly due: number;
  readonly rules: BudgetRules;
  readonly intervals: NudgeIntervals;
  /** Epoch ms. */
  readonly now: number;
}

export async function learningReport(parts: ReportParts): Promise<LearningReport> {
  const { kept, intervals } = parts;
  const factor = intervalFactor(kept);
  const current = learningYield(kept);
  return {
    budget: budgetState(await spentTokens(parts.store, parts.now), parts.rules),
    ...(current === undefined ? {} : { yield: current }),
    intervals: stretchIntervals(intervals, factor),
    factor,
    reviews: { finished: kept.length, kept: kept.reduce((sum, count) => sum + count, 0), due: parts.due },
  };
}
