// Owns what learning may take now, how long it rests, and what `talaria cost` says of both. Knows no table: its readers give rows and sums.
// Invariant: the numbers that are shown are those that decide whether a review runs.
import type { Clock } from '#base/clock.ts';
import type { NudgeIntervals } from '../counters/nudge-counters.ts';
import {
  type BudgetRules,
  type BudgetState,
  DAY_MS,
  type FinishedReview,
  intervalFactor,
  restsUntil,
  stretchIntervals,
} from './learning-budget.ts';
import { type Costs, readBudget, spentTokens, tokensOfStep } from './spent-tokens.ts';

/** Reviews that are looked at: far more than a doubling can need. */
const REVIEWS_READ = 40;
const YIELD_MS = 7 * DAY_MS;

export interface LearningReport {
  readonly budget: BudgetState;
  /** What reviews of the last 7 days kept, and all tokens of learning in that time. */
  readonly yield: {
    readonly kept: number;
    readonly tokens: number;
    /** Kept entries per 1,000 tokens; absent when nothing was spent. */
    readonly perThousand?: number;
  };
  /** As they are now, stretched by reviews that kept nothing. */
  readonly intervals: NudgeIntervals;
  readonly factor: number;
  /** Finished reviews that were looked at, and what they kept. */
  readonly reviews: { readonly finished: number; readonly kept: number; readonly due: number };
}

export interface BudgetParts {
  readonly store: Costs;
  readonly rows: {
    readonly finished: (limit: number) => readonly FinishedReview[];
    readonly keptSince: (at: number) => number;
    readonly due: () => readonly unknown[];
  };
  readonly rules: BudgetRules;
  readonly intervals: NudgeIntervals;
  readonly clock: Clock;
}

export interface BudgetDesk {
  /** Tokens that may be spent now. */
  left(): Promise<number>;
  /** Is there room for the first step of a review? */
  hasRoom(sessionId: string): Promise<boolean>;
  /** As they are now. */
  intervals(): NudgeIntervals;
  /** The last reviews kept nothing, and it is not long ago. */
  isResting(): boolean;
  report(): Promise<LearningReport>;
}

export function createBudgetDesk(parts: BudgetParts): BudgetDesk {
  const { store, rows, rules, clock } = parts;
  const left = async () => (await readBudget(store, clock.now(), rules)).left;
  const reviews = () => rows.finished(REVIEWS_READ);
  return {
    left,
    hasRoom: async (sessionId) => (await left()) >= Math.max(1, await tokensOfStep(store, sessionId)),
    intervals: () => stretchIntervals(parts.intervals, intervalFactor(reviews())),
    isResting: () => clock.now() < restsUntil(reviews()),
    report: () => report(parts, reviews()),
  };
}

async function report(parts: BudgetParts, reviews: readonly FinishedReview[]): Promise<LearningReport> {
  const { store, rows, rules, intervals } = parts;
  const now = parts.clock.now();
  const factor = intervalFactor(reviews);
  const { learning: tokens } = await spentTokens(store, now - YIELD_MS);
  const kept = rows.keptSince(now - YIELD_MS);
  return {
    budget: await readBudget(store, now, rules),
    yield: { kept, tokens, ...(tokens === 0 ? {} : { perThousand: (kept * 1000) / tokens }) },
    intervals: stretchIntervals(intervals, factor),
    factor,
    reviews: {
      finished: reviews.length,
      kept: reviews.reduce((sum, review) => sum + review.kept, 0),
      due: rows.due().length,
    },
  };
}
