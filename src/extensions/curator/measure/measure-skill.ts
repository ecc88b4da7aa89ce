// Owns whether edits of a skill helped: each version's uses, rate and cost, and a verdict against the version before; as
// data and as a table. Reads versions of the door, uses and costs of state.db. Invariant: no verdict while either side has fewer than five uses; what has no known price has no sum that looks whole.
import { isoTime } from '#base/clock.ts';
import { costOfTurns, type TurnCost } from '#mind/sessions/cost/turn-costs.ts';
import { allVersions, countedVersions } from '#mind/skills/door/history/version-rows.ts';
import type { SkillVersion } from '#mind/skills/skill-door.ts';
import { usedTurns, usesByVersion, type VersionUses } from '#mind/skills/use/read-uses.ts';
import { type UseCounts, worseProbability } from '#mind/skills/use/worse-probability.ts';
import type { CuratorMind } from '../curator-ground.ts';
import { inlineText } from '../text/inline-text.ts';

export const MIN_USES = 5;
const SURE = 0.95;

export interface MeasuredCost {
  /** Uses of which a model call is known; the sums a use are over these. */
  readonly costed_uses: number;
  readonly calls: number;
  /** Calls whose price is unknown; they are in no sum of money. */
  readonly unpriced_calls: number;
  /** null: no call with a known price. */
  readonly usd_per_use: number | null;
  /** Input and output; null: no call is known. */
  readonly tokens_per_use: number | null;
}

export interface MeasuredVerdict {
  /** Version it is compared with; null: there was none. */
  readonly against: number | null;
  readonly verdict: 'first' | 'not-enough-uses' | 'better' | 'worse' | 'no-clear-difference';
  /** The smaller number of uses of the two sides. */
  readonly uses: number;
  readonly uses_needed: typeof MIN_USES;
  /** Chance that this version's rate lies below the other's; null without a verdict. */
  readonly probability_worse: number | null;
}

export interface MeasuredVersion {
  readonly version: number;
  readonly actor: string | null;
  readonly action: string | null;
  /** ISO, UTC; null for what stood there before the first known write. */
  readonly at: string | null;
  readonly rolled_back_at: string | null;
  readonly uses: number;
  readonly worked: number;
  readonly failed: number;
  readonly success_rate: number | null;
  readonly cost: MeasuredCost;
  readonly verdict: MeasuredVerdict;
}

export interface SkillMeasurement {
  readonly skill: string;
  /** Oldest first. */
  readonly versions: readonly MeasuredVersion[];
}

export interface MeasureQuestion {
  readonly skill: string;
  readonly versions: readonly SkillVersion[];
  readonly uses: readonly VersionUses[];
  readonly costs: ReadonlyMap<number, TurnCost>;
}

export function measureSkill({ skill, versions, uses, costs }: MeasureQuestion): SkillMeasurement {
  const written = new Map(versions.map((version) => [version.version, version]));
  const counted = new Map(uses.map((one) => [one.version, one]));
  const parents = versions.flatMap(({ parent }) => parent ?? []);
  const numbers = [...new Set([...written.keys(), ...counted.keys(), ...parents])].sort((a, b) => a - b);
  const countsOf = (version: number): UseCounts => counted.get(version) ?? { successes: 0, failures: 0 };
  const measured = numbers.map((number): MeasuredVersion => {
    const version = written.get(number);
    const counts = countsOf(number);
    const against = version?.parent ?? null;
    return {
      version: number,
      actor: version?.actor ?? null,
      action: version?.action ?? null,
      at: version === undefined ? null : isoTime(version.at),
      rolled_back_at: version?.rolledBackAt === undefined ? null : isoTime(version.rolledBackAt),
      uses: usesOf(counts),
      worked: counts.successes,
      failed: counts.failures,
      success_rate: usesOf(counts) === 0 ? null : counts.successes / usesOf(counts),
      cost: costOf(costs.get(number)),
      verdict: verdictOf(against, against === null ? undefined : countsOf(against), counts),
    };
  });
  return { skill, versions: measured };
}

function costOf(sum: TurnCost | undefined): MeasuredCost {
  const { turns = 0, calls = 0, tokens = 0, cost = 0, unpriced = 0 } = sum ?? {};
  return {
    costed_uses: turns,
    calls,
    unpriced_calls: unpriced,
    usd_per_use: calls === unpriced ? null : cost / turns,
    tokens_per_use: turns === 0 ? null : tokens / turns,
  };
}

function verdictOf(against: number | null, older: UseCounts | undefined, newer: UseCounts): MeasuredVerdict {
  const uses = Math.min(usesOf(newer), older === undefined ? Number.POSITIVE_INFINITY : usesOf(older));
  const common = { against, uses, uses_needed: MIN_USES, probability_worse: null } as const;
  if (older === undefined) return { ...common, verdict: 'first' };
  if (uses < MIN_USES) return { ...common, verdict: 'not-enough-uses' };
  const probability = worseProbability(older, newer);
  return { ...common, verdict: wordOf(probability), probability_worse: probability };
}

function wordOf(probabilityWorse: number): 'better' | 'worse' | 'no-clear-difference' {
  if (probabilityWorse >= SURE) return 'worse';
  return probabilityWorse <= 1 - SURE ? 'better' : 'no-clear-difference';
}

function usesOf({ successes, failures }: UseCounts): number {
  return successes + failures;
}

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

/** A version that changed the managed block alone is none here. undefined: neither a write nor a use of such a skill is known. */
export function readMeasurement({ door, state }: Pick<CuratorMind, 'door' | 'state'>, skill: string) {
  const counted = countedVersions(allVersions(state, skill));
  const versions = door.versions(skill).flatMap((one) => {
    if (counted.get(one.version) !== one.version) return [];
    return [one.parent === undefined ? one : { ...one, parent: counted.get(one.parent) ?? one.parent }];
  });
  const uses = usesByVersion(state, skill);
  if (versions.length === 0 && uses.length === 0) return undefined;
  const costs = new Map(uses.map(({ version }) => [version, costOfTurns(state, usedTurns(state, skill, version))]));
  return measureSkill({ skill, versions, uses, costs }) satisfies SkillMeasurement;
}
