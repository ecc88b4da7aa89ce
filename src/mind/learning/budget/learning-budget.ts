// Owns the arithmetic of what learning may cost (issue: Cost; notes core 3, row 7): tokens of an hour and of a day, and how long it
// rests after reviews that kept nothing. Pure: knows no table and no clock.
// Invariant: more learning never makes more room for learning.
import type { NudgeIntervals } from '../counters/nudge-counters.ts';

/** Tokens; `hour` and `day` are limits in any case when they are set. */
export interface BudgetRules {
  readonly hour?: number | undefined;
  readonly day?: number | undefined;
  /** Without a limit for the day: as much of all other tokens of the day, */
  readonly share: number;
  /** and so many at least. */
  readonly floorPerDay: number;
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** Without a limit for the hour it may take as much of what the day may. */
const HOUR_SHARE = 0.2;

/** Tokens of a stretch of time. */
export interface TokensSpent {
  /** Reviews, flushes, recall summaries, judgements. */
  readonly learning: number;
  /** Everything else. */
  readonly other: number;
}

export interface BudgetState {
  /** The last 60 minutes, the last 24 hours. */
  readonly hour: { readonly learning: number; readonly allowed: number };
  readonly day: { readonly learning: number; readonly allowed: number };
  readonly left: number;
}

export function budgetState(hour: TokensSpent, day: TokensSpent, rules: BudgetRules): BudgetState {
  const ofDay = rules.day ?? Math.max(Math.floor(day.other * rules.share), rules.floorPerDay);
  const ofHour = Math.min(ofDay, rules.hour ?? Math.ceil(ofDay * HOUR_SHARE));
  return {
    hour: { learning: hour.learning, allowed: ofHour },
    day: { learning: day.learning, allowed: ofDay },
    left: Math.max(0, Math.min(ofHour - hour.learning, ofDay - day.learning)),
  };
}

export interface FinishedReview {
  readonly kept: number;
  /** Epoch ms. */
  readonly endedAt: number;
}

/** Reviews in a row that may keep nothing. */
const PATIENCE = 3;
const LONGEST_INTERVAL = 80;
const LONGEST_REST_MS = 8 * HOUR_MS;

/** By what the intervals are multiplied: doubled by the third review in a row that kept nothing and by each one behind it. Oldest first. */
export function intervalFactor(reviews: readonly FinishedReview[]): number {
  const idle = reviews.length - 1 - reviews.findLastIndex(({ kept }) => kept > 0);
  return idle < PATIENCE ? 1 : Math.min(LONGEST_INTERVAL, 2 ** (idle - PATIENCE + 1));
}

export function stretchIntervals(intervals: NudgeIntervals, factor: number): NudgeIntervals {
  const stretch = (base: number) => Math.max(base, Math.min(LONGEST_INTERVAL, base * factor));
  return { memory: stretch(intervals.memory), skills: stretch(intervals.skills) };
}

/** Until when the mere end of a session is no reason for a review: an hour for each time that the intervals are longer. */
export function restsUntil(reviews: readonly FinishedReview[]): number {
  const factor = intervalFactor(reviews);
  return factor === 1 ? 0 : (reviews.at(-1)?.endedAt ?? 0) + Math.min(LONGEST_REST_MS, factor * HOUR_MS);
}
