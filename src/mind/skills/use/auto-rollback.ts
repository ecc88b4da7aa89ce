// Owns whether a new version of a skill is rolled back for what its uses say. Pure. Knows no row and no door.
// Invariant: never before both versions have five uses, a difference over 0.15 and P(worse) of 0.95; and since the counts are looked at
// again and again, each look gets its share of the allowed error, so that over all looks a version that is as good as its parent is
// rolled back in at most 5 of 100 cases (measured: test/mind/skills/use/auto-rollback.test.ts).
import { type UseCounts, worseProbability } from './worse-probability.ts';

/** Uses of the new version at which it is judged. */
export const LOOKS: readonly number[] = [5, 10, 20, 40, 80];

const MIN_USES = 5;
const MIN_DIFFERENCE = 0.15;
/** One failure decides nothing: a version that nearly always works has one in its first five uses now and then. */
const MIN_FAILURES = 2;
/**
 * The level of one look; over all of them it keeps the promise of 0.95. Found by summing over every course of uses, for rates from 0.05
 * to 0.995 and parents with 5 to 1,000 uses: 4.4 of 100 at worst. With 0.95 at each look it would be 14, at each use 21.
 */
export const LOOK_LEVEL = 0.9925;

export interface VersionJudgement {
  readonly rollBack: boolean;
  /** Why not, or why. */
  readonly reason: 'too-few-uses' | 'between-looks' | 'not-lower' | 'not-certain' | 'worse';
  /** Rate of the older minus rate of the newer. */
  readonly difference: number;
  readonly probability: number;
}

export function judgeVersion(older: UseCounts, newer: UseCounts): VersionJudgement {
  const uses = usesOf(newer);
  const difference = rateOf(older) - rateOf(newer);
  const said = { difference, probability: worseProbability(older, newer) };
  if (usesOf(older) < MIN_USES || uses < MIN_USES) return { rollBack: false, reason: 'too-few-uses', ...said };
  if (!LOOKS.includes(uses)) return { rollBack: false, reason: 'between-looks', ...said };
  if (difference <= MIN_DIFFERENCE || newer.failures < MIN_FAILURES)
    return { rollBack: false, reason: 'not-lower', ...said };
  if (said.probability < LOOK_LEVEL) return { rollBack: false, reason: 'not-certain', ...said };
  return { rollBack: true, reason: 'worse', ...said };
}

function usesOf({ successes, failures }: UseCounts): number {
  return successes + failures;
}

function rateOf(counts: UseCounts): number {
  const uses = usesOf(counts);
  return uses === 0 ? 0 : counts.successes / uses;
}
