// Owns the numbers that a golem lives by (hierarchy notes A1 to A4, A7): how surprised it must be to think, what it may spend, how long it waits,
// its mood, what its predictions were worth, which skills come first, how well it is. Pure: knows no store, no model and no domain.
import type { PRESETS } from '#fleet/styx/clade.ts';
import type { SkillRecord } from '#mind/skills/skill.ts';

// The gate (A1).

export type GolemTier = 'T0' | 'T1' | 'T2';

/** How surprised it must be to think, 0.05 to 0.8. `confidence`: accuracy of the category, 0 to 1. */
export function surpriseThreshold(
  base: number,
  of: Readonly<Record<'confidence' | 'vitality' | 'arousal', number>>,
): number {
  const scaled = base * (1 + 0.5 * of.confidence) * (1 - 0.3 * (1 - of.vitality)) * (1 - 0.2 * Math.abs(of.arousal));
  return clamp(scaled, 0.05, 0.8);
}

/** What the gate asks for, before money is looked at. `isForced`: a steer waits, or the phase changed. */
export function tierOf(surprise: number, threshold: number, isForced = false): GolemTier {
  if (isForced || surprise >= 2 * threshold) return 'T2';
  return surprise < threshold ? 'T0' : 'T1';
}

/** `spent`: the larger share of the day's dollars and tokens, 0 to 1. `mayAsk` false: rules answer, no model. */
export function withinMeans(asked: GolemTier, spent: number): { readonly tier: GolemTier; readonly mayAsk: boolean } {
  if (spent >= 1) return { tier: 'T0', mayAsk: false };
  if (spent >= 0.9) return { tier: asked, mayAsk: false };
  return { tier: spent >= 0.7 && asked === 'T2' ? 'T1' : asked, mayAsk: true };
}

/** Until the next heartbeat, ms: 5 s to 10 min. */
export function intervalMs(
  baseSeconds: number,
  last: Readonly<Record<'surprise' | 'threshold' | 'quietTicks', number>> & { readonly hasFailed: boolean },
): number {
  const regime = last.surprise >= 2 * last.threshold ? 0.3 : last.hasFailed ? 0.5 : last.quietTicks >= 10 ? 2 : 1;
  return clamp(baseSeconds * regime, 5, 600) * 1_000;
}

// The mood (A2): pleasure, arousal, dominance, each -1 to 1.

export type Mood = Readonly<Record<'pleasure' | 'arousal' | 'dominance', number>>;

export const TEMPERAMENTS = {
  cautious: { pleasure: -0.1, arousal: 0.1, dominance: -0.2 },
  balanced: { pleasure: 0, arousal: 0, dominance: 0 },
  bold: { pleasure: 0.1, arousal: 0.3, dominance: 0.2 },
} as const satisfies Record<(typeof PRESETS)[number], Mood>;

/** `trend`: how the accuracy of the last ten predictions changed with this one. */
export function moodAfter(
  mood: Mood,
  { p, success, trend }: { readonly p: number; readonly success: boolean; readonly trend: number },
): Mood {
  const isRight = isCorrect({ p, success });
  const step = (value: number, change: number) => clamp(0.98 * value + change, -1, 1);
  return {
    pleasure: step(mood.pleasure, isRight ? 0.05 : -0.08),
    arousal: step(mood.arousal, 0.1 * Math.abs(p - Number(success))),
    dominance: step(mood.dominance, trend > 0 ? 0.03 : trend < 0 ? -0.05 : 0),
  };
}

/** Beyond which a mood asks for something of its own. */
export const MOOD_THRESHOLDS = {
  ...{ arousal: 0.5, pleasureLow: -0.2, pleasureHigh: 0.3, dominanceHigh: 0.3, dominanceLow: -0.3 },
};

/** What is asked of the library: an anxious golem asks for caution, a confident one for more, an unsure one for what was proven. Strict comparisons. */
export function moodQuery(query: string, { pleasure, arousal, dominance }: Mood, at = MOOD_THRESHOLDS): string {
  const isAnxious = arousal > at.arousal && pleasure < at.pleasureLow;
  const isConfident = pleasure > at.pleasureHigh && dominance > at.dominanceHigh;
  return [
    query,
    ...(isAnxious ? ['risk mitigation defensive caution'] : []),
    ...(isConfident ? ['optimization aggressive opportunity'] : []),
    ...(dominance < at.dominanceLow ? ['proven validated safe'] : []),
  ].join(' ');
}

// Predictions (A3).

/** A claim about what an act will lead to, and what the domain then found. */
export interface Resolved {
  /** Probability of success that was stated before the act. */
  readonly p: number;
  readonly success: boolean;
}

export function isCorrect({ p, success }: Resolved): boolean {
  return p >= 0.5 === success;
}

export function brier({ p, success }: Resolved): number {
  return (p - Number(success)) ** 2;
}

/** What a category is worth without a skill: (successes + 1) / (tries + 2). */
export function baseRate({ successes, tries }: Tried): number {
  return (successes + 1) / (tries + 2);
}

export type Tried = Readonly<Record<'successes' | 'tries', number>>;

/** Share that was correct of the last 50, the newest last; undefined before there are 20. */
export function accuracy(resolved: readonly Resolved[]): number | undefined {
  if (resolved.length < 20) return undefined;
  const last = resolved.slice(-50);
  return last.filter(isCorrect).length / last.length;
}

/** What a skill adds: success with it against success without it in its categories, -0.5 to 0.5. */
export function attribution(withIt: Tried, without: Tried): number {
  return clamp(baseRate(withIt) - baseRate(without), -0.5, 0.5);
}

/** An inherited skill whose first two uses here both failed rests. */
export function isOnProbation({ priorWeight, successCount, failureCount, lineage }: SkillRecord): boolean {
  return lineage.length > 0 && priorWeight > 2 && successCount === 0 && failureCount >= 2;
}

/** `hasProbation` false: one on probation counts too. */
export function isUsable(record: SkillRecord, hasProbation = true): boolean {
  return record.status === 'active' && record.confidence >= 0.35 && !(hasProbation && isOnProbation(record));
}

// Which skills come first (A4).

const DAY_MS = 86_400_000;
const HALF_LIFE_DAYS = 14;
const BLOODSTAIN_DECAY = 3;
const BLOODSTAIN_BOOST = 1.2;
const GOOD_ACCURACY = 0.7;

/** Parts of what a skill's score is multiplied by; their product is the weight. */
export type SkillWeight = Readonly<Record<'standing' | 'attribution' | 'bloodstain' | 'boost', number>>;

/** `accuracyOf`: of a category; undefined while too little is known of it. */
export function weighSkill(
  record: SkillRecord,
  now: number,
  accuracyOf: (category: string) => number | undefined,
): SkillWeight {
  const days = Math.max(0, now - (record.lastUsedAt ?? record.createdAt)) / DAY_MS;
  const halfLife = HALF_LIFE_DAYS * (record.bloodstain ? BLOODSTAIN_DECAY : 1);
  const worst = Math.min(GOOD_ACCURACY, ...record.categories.map((name) => accuracyOf(name) ?? GOOD_ACCURACY));
  return {
    standing: 0.5 + record.confidence * 2 ** (-days / halfLife),
    attribution: 1 + record.attribution,
    bloodstain: record.bloodstain ? BLOODSTAIN_BOOST : 1,
    boost: 1 + 2 * (GOOD_ACCURACY - worst),
  };
}

export function product({ standing, attribution: helped, bloodstain, boost }: SkillWeight): number {
  return standing * helped * bloodstain * boost;
}

// How well it is (A7).

const PHASES = [
  { name: 'thriving', from: 0.7 },
  { name: 'stable', from: 0.5 },
  { name: 'conservation', from: 0.3 },
  { name: 'declining', from: 0.1 },
  { name: 'terminal', from: 0 },
] as const;

export type Phase = (typeof PHASES)[number]['name'];

/** 0 to 1. `credit`: share of what it began with; `accuracy` of the last 100 predictions, absent while fewer than 20; `age`: share of its ticks. */
export function vitality(of: { readonly credit: number; readonly accuracy?: number; readonly age: number }): number {
  const right = of.accuracy === undefined ? 1 : sigmoid(of.accuracy, 0.4, 8);
  return sigmoid(of.credit, 0.3, 10) * right * Math.max(0, 1 - 0.3 * of.age);
}

/** Upwards only with 0.05 to spare; nobody comes back from the last one. */
export function phaseAfter(phase: Phase, vital: number): Phase {
  if (phase === 'terminal') return phase;
  const rank = (value: number) => PHASES.findIndex(({ from }) => value >= from);
  const now = PHASES.findIndex(({ name }) => name === phase);
  const down = rank(vital);
  const next = down > now ? down : Math.min(now, rank(vital - 0.05));
  return PHASES[next]?.name ?? 'terminal';
}

/** Of the money of a dream, the part that goes into changing skills. */
export const EVOLUTION_SHARE: Readonly<Record<Phase, number>> = {
  ...{ thriving: 0.15, stable: 0.12, conservation: 0.08, declining: 0.05, terminal: 0 },
};

function sigmoid(value: number, centre: number, steepness: number): number {
  return 1 / (1 + Math.exp(-steepness * (value - centre)));
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
