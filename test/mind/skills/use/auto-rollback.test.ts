/** When a version is rolled back for what its uses say, and how often that happens to a version that is as good as its parent. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { judgeVersion, LOOK_LEVEL, LOOKS } from '#mind/skills/use/auto-rollback.ts';
import { type UseCounts, worseProbability } from '#mind/skills/use/worse-probability.ts';
import { runs } from '../../../property-runs.ts';

const counts = (successes: number, failures: number): UseCounts => ({ successes, failures });
const verdict = (older: UseCounts, newer: UseCounts) => judgeVersion(older, newer).reason;

/** Small and seeded. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Plays a new version of the same true rate against a parent, use by use. Was it rolled back? */
function isRolledBack(older: UseCounts, rate: number, random: () => number): boolean {
  let [successes, failures] = [0, 0];
  for (let use = 0; use < 120; use += 1) {
    if (random() < rate) successes += 1;
    else failures += 1;
    if (judgeVersion(older, counts(successes, failures)).rollBack) return true;
  }
  return false;
}

/** For each number of successes of a parent with that many uses: the counts of the new version, `uses successes`, that roll it back. */
function rollbackRegions(uses: number): readonly ReadonlySet<string>[] {
  return Array.from({ length: uses + 1 }, (_, successes) => {
    const older = counts(successes, uses - successes);
    const region = LOOKS.flatMap((look) =>
      Array.from({ length: look + 1 }, (__, good) => good)
        .filter((good) => judgeVersion(older, counts(good, look - good)).rollBack)
        .map((good) => `${look} ${good}`),
    );
    return new Set(region);
  });
}

/** The same, exactly: the chance over all courses of the new version and all outcomes of the parent's uses. */
function falseRollbacks(regions: readonly ReadonlySet<string>[], rate: number): number {
  const uses = regions.length - 1;
  let sum = 0;
  let chance = (1 - rate) ** uses;
  for (const [successes, region] of regions.entries()) {
    if (chance > 1e-9) sum += chance * chanceOfRollback(region, rate);
    chance *= ((uses - successes) / (successes + 1)) * (rate / (1 - rate));
  }
  return sum;
}

function chanceOfRollback(region: ReadonlySet<string>, rate: number): number {
  let open = [1];
  let rolledBack = 0;
  for (let use = 1; use <= (LOOKS.at(-1) ?? 0); use += 1) {
    const next = new Array<number>(use + 1).fill(0);
    for (const [successes, chance] of open.entries()) {
      next[successes] = (next[successes] ?? 0) + chance * (1 - rate);
      next[successes + 1] = (next[successes + 1] ?? 0) + chance * rate;
    }
    open = LOOKS.includes(use)
      ? next.map((chance, successes) => {
          if (!region.has(`${use} ${successes}`)) return chance;
          rolledBack += chance;
          return 0;
        })
      : next;
  }
  return rolledBack;
}

describe('worseProbability', () => {
  test('is one half for equal counts, and agrees with values worked out by hand', () => {
    assert.ok(Math.abs(worseProbability(counts(3, 2), counts(3, 2)) - 0.5) < 1e-12);
    assert.ok(Math.abs(worseProbability(counts(1, 0), counts(0, 1)) - 5 / 6) < 1e-12);
    assert.ok(Math.abs(worseProbability(counts(0, 0), counts(0, 1)) - 2 / 3) < 1e-12);
  });

  test('either is below the other', () => {
    const count = fc.nat({ max: 200 });
    fc.assert(
      fc.property(count, count, count, count, (a, b, c, d) => {
        const one = worseProbability(counts(a, b), counts(c, d));
        const other = worseProbability(counts(c, d), counts(a, b));
        assert.ok(one >= 0 && one <= 1);
        assert.ok(Math.abs(one + other - 1) < 1e-9, `${one} + ${other}`);
      }),
    );
  });
});

describe('judgeVersion', () => {
  test('needs five uses of both, a clear difference, and certainty', () => {
    assert.equal(verdict(counts(4, 0), counts(0, 5)), 'too-few-uses');
    assert.equal(verdict(counts(10, 0), counts(0, 4)), 'too-few-uses');
    assert.equal(verdict(counts(10, 0), counts(0, 5)), 'worse');
    assert.equal(verdict(counts(10, 0), counts(0, 6)), 'between-looks');
    assert.equal(verdict(counts(80, 20), counts(53, 27)), 'not-lower');
    assert.equal(verdict(counts(6, 4), counts(2, 3)), 'not-certain');
    assert.equal(verdict(counts(9, 1), counts(10, 0)), 'not-lower');
    assert.equal(verdict(counts(400, 0), counts(4, 1)), 'not-lower', 'one failure decides nothing');
  });

  test('whatever is rolled back has the difference and the probability that are promised', () => {
    const count = fc.nat({ max: 60 });
    fc.assert(
      fc.property(count, count, count, count, (a, b, c, d) => {
        const judged = judgeVersion(counts(a, b), counts(c, d));
        if (!judged.rollBack) return;
        assert.ok(a + b >= 5 && c + d >= 5);
        assert.ok(judged.difference > 0.15 && judged.probability >= 0.95 && judged.probability >= LOOK_LEVEL);
      }),
      { numRuns: runs(1_000) },
    );
  });

  test('a version as good as its parent is rolled back in at most 5 of 100 cases, exactly, for every rate and number of uses', () => {
    let worst = 0;
    for (const uses of [5, 8, 13, 20, 50, 100, 150]) {
      const regions = rollbackRegions(uses);
      for (const rate of [0.1, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.92, 0.94, 0.96, 0.98, 0.99])
        worst = Math.max(worst, falseRollbacks(regions, rate));
    }
    assert.ok(worst <= 0.05, `${worst}`);
    assert.ok(worst > 0.005, `${worst}: nothing was measured`);
  });

  test('simulated over 4,000 seeds, looked at after every use: at most 5 of 100', () => {
    const runs = 4_000;
    let rolledBack = 0;
    for (let seed = 1; seed <= runs; seed += 1) {
      const random = randomFrom(seed);
      const rate = 0.3 + 0.68 * random();
      const uses = 5 + Math.floor(random() * 60);
      const successes = Array.from({ length: uses }, () => random() < rate).filter(Boolean).length;
      if (isRolledBack(counts(successes, uses - successes), rate, random)) rolledBack += 1;
    }
    assert.ok(rolledBack / runs <= 0.05, `${rolledBack} of ${runs}`);
  });

  test('a version that is much worse is found', () => {
    const runs = 500;
    let found = 0;
    for (let seed = 1; seed <= runs; seed += 1) if (isRolledBack(counts(18, 2), 0.4, randomFrom(seed))) found += 1;
    assert.ok(found / runs > 0.9, `${found} of ${runs}`);
  });
});
