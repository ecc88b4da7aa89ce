// Owns whether edits of a skill helped: each version's uses, rate and cost, and a verdict against the version before; as data and as a table.

import { isoTime } from '#base/clock.ts';
import type { Mind } from '#core/agent/room.ts';
import { costOfTurns, type TurnCost } from '#mind/sessions/span-rows.ts';
import { allVersions, countedVersions } from '#mind/skills/door/versions.ts';
import type { SkillVersion } from '#mind/skills/skill.ts';
import {
  type UseCounts,
  usedTurns,
  usesByVersion,
  usesOf,
  type VersionUses,
  worseProbability,
} from '#mind/skills/skill-uses.ts';
import { inlineText } from './text.ts';

const MIN_USES = 5;
const SURE = 0.95;

export interface MeasureQuestion {
  readonly skill: string;
  readonly versions: readonly SkillVersion[];
  readonly uses: readonly VersionUses[];
  readonly costs: ReadonlyMap<number, TurnCost>;
}

export type SkillMeasurement = ReturnType<typeof measureSkill>;

/** Versions oldest first. Without a known write `actor`, `action` and `at` (ISO, UTC) are null; without a use the rate is. */
export function measureSkill({ skill, versions, uses, costs }: MeasureQuestion) {
  const written = new Map(versions.map((version) => [version.version, version]));
  const counted = new Map(uses.map((one) => [one.version, one]));
  const parents = versions.flatMap(({ parent }) => parent ?? []);
  const numbers = [...new Set([...written.keys(), ...counted.keys(), ...parents])].sort((a, b) => a - b);
  const countsOf = (version: number): UseCounts => counted.get(version) ?? { successes: 0, failures: 0 };
  const measured = numbers.map((number) => {
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

/** `costed_uses`: of which a model call is known; the sums a use are over these. Calls of an unknown price are in no sum of money. */
function costOf(sum: TurnCost | undefined) {
  const { turns = 0, calls = 0, tokens = 0, cost = 0, unpriced = 0 } = sum ?? {};
  return {
    costed_uses: turns,
    calls,
    unpriced_calls: unpriced,
    usd_per_use: calls === unpriced ? null : cost / turns,
    tokens_per_use: turns === 0 ? null : tokens / turns,
  };
}

/** `uses`: the smaller number of the two sides; `probability_worse`: chance that this version's rate lies below the other's. */
function verdictOf(against: number | null, older: UseCounts | undefined, newer: UseCounts) {
  const uses = Math.min(usesOf(newer), older === undefined ? Number.POSITIVE_INFINITY : usesOf(older));
  const worse = older === undefined || uses < MIN_USES ? null : worseProbability(older, newer);
  const verdict = older === undefined ? 'first' : worse === null ? 'not-enough-uses' : wordOf(worse);
  return { against, verdict, uses, uses_needed: MIN_USES, probability_worse: worse };
}

function wordOf(worse: number): 'better' | 'worse' | 'no-clear-difference' {
  if (worse >= SURE) return 'worse';
  return worse <= 1 - SURE ? 'better' : 'no-clear-difference';
}

/** A version that changed the managed block alone is none here. undefined: neither a write nor a use of such a skill is known. */
export function readMeasurement(
  { door, state }: Pick<Mind, 'door' | 'state'>,
  skill: string,
): SkillMeasurement | undefined {
  const counted = countedVersions(allVersions(state, skill));
  const versions = door.versions(skill).flatMap((one) => {
    if (counted.get(one.version) !== one.version) return [];
    return [one.parent === undefined ? one : { ...one, parent: counted.get(one.parent) ?? one.parent }];
  });
  const uses = usesByVersion(state, skill);
  if (versions.length === 0 && uses.length === 0) return undefined;
  const costs = new Map(uses.map(({ version }) => [version, costOfTurns(state, usedTurns(state, skill, version))]));
  return measureSkill({ skill, versions, uses, costs });
}

export const MEASURE_COLUMNS: readonly string[] = [
  ...['version', 'by', 'what', 'when', 'uses', 'worked', 'failed', 'rate'],
  ...['US$ a use', 'tokens a use', 'verdict'],
];

type MeasuredVersion = SkillMeasurement['versions'][number];

export function measurementRows({ versions }: SkillMeasurement): readonly (readonly string[])[] {
  return versions.map((version) => [
    String(version.version),
    inlineText(version.actor ?? '-'),
    `${inlineText(version.action ?? 'before the first known write')}${version.rolled_back_at === null ? '' : ', undone'}`,
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

function moneyOf({ calls, unpriced_calls: unpriced, usd_per_use: usd }: MeasuredVersion['cost']): string {
  if (calls === 0) return '-';
  if (usd === null) return 'unknown';
  const shown = usd.toFixed(usd > 0 && usd < 0.01 ? 6 : 4);
  return unpriced === 0 ? shown : `${shown} + unknown`;
}

function verdictText({ verdict, against, uses, ...rest }: MeasuredVersion['verdict']): string {
  if (verdict === 'first') return '-';
  if (verdict === 'not-enough-uses') return `not enough uses (${uses} of ${rest.uses_needed})`;
  const word = verdict === 'no-clear-difference' ? 'no clear difference from' : `${verdict} than`;
  return `${word} version ${against} (P(worse) ${(rest.probability_worse ?? 0).toFixed(2)})`;
}
