/** The numbers that a golem lives by, as the notes give them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import * as vitals from '#fleet/golem/vitals.ts';
import { recordOf } from '../../mind/skills/skill-bench.ts';
import { runs } from '../../property-runs.ts';

const CALM = { confidence: 0, vitality: 1, arousal: 0 };
const near = (value: number, wanted: number) => assert.ok(Math.abs(value - wanted) < 1e-9, `${value}, not ${wanted}`);

describe('the gate', () => {
  test('the threshold rises with accuracy and falls with weakness and excitement, within bounds', () => {
    near(vitals.surpriseThreshold(0.3, CALM), 0.3);
    near(vitals.surpriseThreshold(0.3, { confidence: 0.8, vitality: 0.5, arousal: -0.5 }), 0.3 * 1.4 * 0.85 * 0.9);
    assert.equal(vitals.surpriseThreshold(0.001, CALM), 0.05);
    assert.equal(vitals.surpriseThreshold(0.9, { ...CALM, confidence: 1 }), 0.8);
  });

  test('below it nothing is asked, from twice it on the deliberate tier; a steer forces that', () => {
    const tiers = [0, 0.299, 0.3, 0.599, 0.6, 1].map((surprise) => vitals.tierOf(surprise, 0.3));
    assert.deepEqual(tiers, ['T0', 'T0', 'T1', 'T1', 'T2', 'T2']);
    assert.equal(vitals.tierOf(0, 0.3, true), 'T2');
  });

  test('money: at 70 % T2 becomes T1, at 90 % only rules answer, at 100 % nothing is asked', () => {
    const table = [0.69, 0.7, 0.89, 0.9, 0.99, 1].map((spent) => vitals.withinMeans('T2', spent));
    assert.deepEqual(
      table.map(({ tier, mayAsk }) => `${tier} ${mayAsk}`),
      [...['T2 true', 'T1 true', 'T1 true', 'T2 false', 'T2 false', 'T0 false']],
    );
    assert.deepEqual(vitals.withinMeans('T1', 0.8), { tier: 'T1', mayAsk: true });
  });

  test('the heart beats faster after a surprise or a failure, slower when nothing happens', () => {
    const quiet = { surprise: 0, threshold: 0.3, hasFailed: false, quietTicks: 0 };
    const beats = [
      vitals.intervalMs(60, quiet),
      vitals.intervalMs(60, { ...quiet, surprise: 0.6, hasFailed: true }),
      vitals.intervalMs(60, { ...quiet, hasFailed: true, quietTicks: 10 }),
      vitals.intervalMs(60, { ...quiet, quietTicks: 10 }),
      vitals.intervalMs(1, quiet),
      vitals.intervalMs(3_600, quiet),
    ];
    assert.deepEqual(beats, [60_000, 18_000, 30_000, 120_000, 5_000, 600_000]);
  });
});

describe('the mood', () => {
  test('moves by what predictions came to and by nothing else', () => {
    const right = vitals.moodAfter(vitals.TEMPERAMENTS.bold, { p: 0.8, success: true, trend: 1 });
    near(right.pleasure, 0.098 + 0.05);
    near(right.arousal, 0.294 + 0.02);
    near(right.dominance, 0.196 + 0.03);
    const wrong = vitals.moodAfter(vitals.TEMPERAMENTS.balanced, { p: 0.8, success: false, trend: -1 });
    near(wrong.pleasure, -0.08);
    near(wrong.arousal, 0.08);
    near(wrong.dominance, -0.05);
  });

  test('never leaves -1 to 1', () => {
    const outcome = fc.record({
      p: fc.double({ min: 0, max: 1, noNaN: true }),
      success: fc.boolean(),
      trend: fc.constantFrom(-1, 0, 1),
    });
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 300 }), (all) => {
        let mood: vitals.Mood = vitals.TEMPERAMENTS.cautious;
        for (const one of all) mood = vitals.moodAfter(mood, one);
        return Object.values(mood).every((value) => value >= -1 && value <= 1);
      }),
      { numRuns: runs(400) },
    );
  });

  const asked = (pleasure: number, arousal: number, dominance: number) =>
    vitals.moodQuery('q', { pleasure, arousal, dominance });
  for (const [mood, wanted] of [
    [[0, 0, 0], 'q'],
    [[-0.21, 0.51, 0], 'q risk mitigation defensive caution'],
    [[-0.2, 0.51, 0], 'q'],
    [[-0.21, 0.5, 0], 'q'],
    [[0.31, 0, 0.31], 'q optimization aggressive opportunity'],
    [[0.3, 0, 0.31], 'q'],
    [[0.31, 0, 0.3], 'q'],
    [[0, 0, -0.31], 'q proven validated safe'],
    [[0, 0, -0.3], 'q'],
    [[-0.5, 0.8, -0.5], 'q risk mitigation defensive caution proven validated safe'],
  ] as const)
    test(`${mood.join(' ')} asks ${wanted}`, () => {
      const [pleasure, arousal, dominance] = mood;
      assert.equal(asked(pleasure, arousal, dominance), wanted);
    });

  test('the thresholds are settings', () => {
    const strict = { ...vitals.MOOD_THRESHOLDS, dominanceLow: -0.9 };
    assert.equal(vitals.moodQuery('q', { pleasure: 0, arousal: 0, dominance: -0.5 }, strict), 'q');
  });
});

describe('predictions', () => {
  const said = (p: number, success: boolean) => ({ p, success });

  test('correct, Brier, base rate, accuracy of the last fifty from twenty on', () => {
    assert.deepEqual([said(0.5, true), said(0.49, true), said(0.49, false)].map(vitals.isCorrect), [true, false, true]);
    near(vitals.brier(said(0.8, false)), 0.64);
    near(vitals.baseRate({ successes: 3, tries: 4 }), 4 / 6);
    const right = Array.from({ length: 19 }, () => said(0.9, true));
    assert.equal(vitals.accuracy(right), undefined);
    assert.equal(vitals.accuracy([...right, said(0.9, false)]), 0.95);
    assert.equal(
      vitals.accuracy([
        ...Array.from({ length: 100 }, () => said(0.9, false)),
        ...Array.from({ length: 50 }, () => said(0.9, true)),
      ]),
      1,
    );
  });

  test('a skill is worth what it adds in its categories, within a half', () => {
    near(vitals.attribution({ successes: 2, tries: 2 }, { successes: 0, tries: 2 }), 0.5);
    near(vitals.attribution({ successes: 1, tries: 2 }, { successes: 2, tries: 6 }), 0.5 - 3 / 8);
    assert.equal(vitals.attribution({ successes: 90, tries: 90 }, { successes: 0, tries: 90 }), 0.5);
  });

  test('probation: an inherited skill rests after two failures, an own one does not', () => {
    const inherited = { lineage: ['alpha'], priorWeight: 5, confidence: 0.6 };
    const rests = (fields: object) => vitals.isOnProbation(recordOf('s', fields));
    assert.equal(rests({ ...inherited, failureCount: 2 }), true);
    assert.equal(rests({ ...inherited, failureCount: 1 }), false);
    assert.equal(rests({ ...inherited, failureCount: 5, successCount: 1 }), false);
    assert.equal(rests({ failureCount: 9 }), false);
    const usable = (fields: object) => vitals.isUsable(recordOf('s', fields));
    assert.deepEqual(
      [
        usable({ confidence: 0.35 }),
        usable({ confidence: 0.349 }),
        usable({ status: 'flagged' }),
        usable({ ...inherited, failureCount: 2 }),
      ],
      [true, false, false, false],
    );
  });
});

describe('which skills come first', () => {
  const NOW = 1_000 * 86_400_000;
  const ago = (days: number) => NOW - days * 86_400_000;
  const weight = (fields: object, accuracy?: number) => vitals.weighSkill(recordOf('s', fields), NOW, () => accuracy);

  test('standing fades by half in 14 days, three times slower with the bloodstain, which counts 1.2 times', () => {
    near(weight({ confidence: 0.8, lastUsedAt: ago(14) }).standing, 0.9);
    near(weight({ confidence: 0.8, createdAt: ago(28) }).standing, 0.7);
    const stained = weight({ confidence: 0.8, lastUsedAt: ago(42), bloodstain: true });
    near(stained.standing, 0.9);
    near(vitals.product(stained), 0.9 * 1.2);
  });

  test('a weak category calls for its skills, attribution for those that helped', () => {
    const categories = ['fee_rate'];
    assert.equal(weight({ categories }, 0.84).boost, 1);
    near(weight({ categories }, 0.55).boost, 1.3);
    assert.equal(weight({ categories }).boost, 1);
    assert.equal(weight({}, 0.1).boost, 1);
    const [worse, none, better] = [-0.5, 0, 0.5].map((helped) =>
      vitals.product(weight({ attribution: helped, createdAt: NOW })),
    );
    assert.ok((worse ?? 0) < (none ?? 0) && (none ?? 0) < (better ?? 0));
  });
});

describe('how well it is', () => {
  test('vitality is credit, accuracy and age together', () => {
    const half = 1 / (1 + Math.exp(-7));
    near(vitals.vitality({ credit: 1, age: 0 }), half);
    near(vitals.vitality({ credit: 0.3, accuracy: 0.4, age: 1 }), 0.5 * 0.5 * 0.7);
  });

  test('down at once, up only with something to spare, and never back from the last phase', () => {
    const life: readonly (readonly [number, vitals.Phase])[] = [
      ...([
        [0.69, 'stable'],
        [0.74, 'stable'],
        [0.75, 'thriving'],
        [0.2, 'declining'],
      ] as const),
      ...([
        [0.34, 'declining'],
        [0.36, 'conservation'],
        [0.9, 'thriving'],
        [0.05, 'terminal'],
        [1, 'terminal'],
      ] as const),
    ];
    let phase: vitals.Phase = 'thriving';
    for (const [vital, wanted] of life) {
      phase = vitals.phaseAfter(phase, vital);
      assert.equal(phase, wanted, String(vital));
    }
  });

  test('the poorer, the less is spent on changing skills', () => {
    assert.deepEqual(Object.values(vitals.EVOLUTION_SHARE), [0.15, 0.12, 0.08, 0.05, 0]);
  });
});
