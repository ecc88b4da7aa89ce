// Owns what learning may cost and take now (notes core 3, row 7): tokens of an hour and of a day, and how long it rests after reviews that kept
// nothing. Invariants: more learning never makes more room for learning; what came out of a provider's cache is not counted.
import type { Clock } from '#base/clock.ts';
import type { CostRow, SessionStore } from '#core/agent/session-store.ts';
import type { Purpose, Usage } from '#core/model/model-client.ts';
import type { BudgetRules, BudgetState, FinishedReview, LearningReport, LearningSection } from './learning.ts';
import type { NudgeIntervals } from './read-turns.ts';
import type { ReviewRows } from './reviews.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Without a limit for the hour it may take as much of what the day may. */
const HOUR_SHARE = 0.2;

/** Tokens of a stretch of time. */
interface TokensSpent {
  /** Reviews, flushes, recall summaries, judgements. */
  readonly learning: number;
  /** Everything else. */
  readonly other: number;
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

type Costs = Pick<SessionStore, 'costs'>;

const LEARNING: ReadonlySet<Purpose> = new Set(['review', 'flush', 'recall', 'judge']);

async function spentTokens(store: Costs, since: number): Promise<TokensSpent> {
  const rows = await store.costs({ since });
  const sum = (isOurs: boolean) => sumOf(rows.filter(({ purpose }) => LEARNING.has(purpose) === isOurs));
  return { learning: sum(true), other: sum(false) };
}

export async function readBudget(store: Costs, now: number, rules: BudgetRules): Promise<BudgetState> {
  return budgetState(await spentTokens(store, now - HOUR_MS), await spentTokens(store, now - DAY_MS), rules);
}

/** What a step of this conversation costs in the mean: little where the provider keeps its beginning, all of it where none does. */
export async function tokensOfStep(store: Costs, sessionId: string): Promise<number> {
  const answers = (await store.costs({ sessionId })).filter(({ purpose }) => purpose === 'answer');
  const calls = answers.reduce((sum, row) => sum + row.calls, 0);
  return calls === 0 ? 0 : Math.ceil(sumOf(answers) / calls);
}

/** Tokens that were worked on: prompt without its cached part, and answer. */
export function freshTokens({ inputTokens, cachedTokens, outputTokens }: Usage): number {
  return Math.max(0, inputTokens - cachedTokens) + outputTokens;
}

function sumOf(rows: readonly CostRow[]): number {
  return rows.reduce((total, { usage }) => total + freshTokens(usage), 0);
}

/** Reviews that are looked at: far more than a doubling can need. */
const REVIEWS_READ = 40;
const YIELD_MS = 7 * DAY_MS;

/** What finished reviews kept, and which are due. */
type Outcomes = Pick<ReviewRows, 'finished' | 'keptSince' | 'due'>;

export function createBudgetDesk(
  store: Costs,
  rows: Outcomes,
  { settings, intervals }: { readonly settings: LearningSection; readonly intervals: NudgeIntervals },
  clock: Clock,
) {
  const rules = { ...settings.budget, share: settings.budget_share, floorPerDay: settings.budget_floor };
  const left = async () => (await readBudget(store, clock.now(), rules)).left;
  const reviews = () => rows.finished(REVIEWS_READ);
  return {
    /** Tokens that may be spent now. */
    left,
    /** Is there room for the first step of a review? */
    hasRoom: async (sessionId: string) => (await left()) >= Math.max(1, await tokensOfStep(store, sessionId)),
    /** As they are now. */
    intervals: () => stretchIntervals(intervals, intervalFactor(reviews())),
    /** The last reviews kept nothing, and it is not long ago. */
    isResting: () => clock.now() < restsUntil(reviews()),
    report: async (): Promise<LearningReport> => {
      const now = clock.now();
      const looked = reviews();
      const factor = intervalFactor(looked);
      const { learning: tokens } = await spentTokens(store, now - YIELD_MS);
      const kept = rows.keptSince(now - YIELD_MS);
      return {
        budget: await readBudget(store, now, rules),
        yield: { kept, tokens, ...(tokens === 0 ? {} : { perThousand: (kept * 1000) / tokens }) },
        intervals: stretchIntervals(intervals, factor),
        factor,
        reviews: {
          finished: looked.length,
          kept: looked.reduce((sum, review) => sum + review.kept, 0),
          due: rows.due().length,
        },
      };
    },
  };
}
