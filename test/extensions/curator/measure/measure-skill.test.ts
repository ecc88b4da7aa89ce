import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type MeasureQuestion, measurementRows, measureSkill } from '#extensions/curator/measure/measure-skill.ts';
import { NO_TURN_COST, type TurnCost } from '#mind/sessions/cost/turn-costs.ts';
import type { SkillVersion } from '#mind/skills/skill-door.ts';

function version(number: number, fields: Partial<SkillVersion> = {}): SkillVersion {
  return {
    ...{ skill: 's', version: number, parent: number - 1, actor: 'curator', action: 'edit', originalHash: 'a' },
    ...{ newHash: 'b', manifestPath: '/m', proposalId: `p${number}`, at: Date.parse('2026-05-01T10:00:00Z') },
    ...fields,
  };
}

function asked(
  counts: readonly (readonly [worked: number, failed: number])[],
  costs: readonly (readonly [number, TurnCost])[] = [],
): MeasureQuestion {
  return {
    skill: 's',
    versions: counts.slice(1).map((_, at) => version(at + 1)),
    uses: counts.map(([successes, failures], at) => ({ version: at, successes, failures })),
    costs: new Map(costs),
  };
}

const verdicts = (question: MeasureQuestion) => measureSkill(question).versions.map(({ verdict }) => verdict.verdict);

describe('measuring the edits of a skill', () => {
  test('a verdict needs five uses on both sides', () => {
    assert.deepEqual(
      verdicts(
        asked([
          [9, 1],
          [0, 4],
          [0, 9],
        ]),
      ),
      ['first', 'not-enough-uses', 'not-enough-uses'],
    );
    assert.deepEqual(
      verdicts(
        asked([
          [9, 1],
          [0, 5],
          [9, 0],
        ]),
      ),
      ['first', 'worse', 'better'],
    );
    assert.deepEqual(
      verdicts(
        asked([
          [4, 1],
          [4, 2],
        ]),
      ),
      ['first', 'no-clear-difference'],
    );
  });

  test('every version has its row, used or not, written or not', () => {
    const undone = version(2, { rolledBackAt: Date.parse('2026-05-02T10:00:00Z') });
    const question = { ...asked([[2, 0]]), versions: [version(1), undone] };
    const { versions } = measureSkill(question);
    assert.deepEqual(
      versions.map((row) => [row.version, row.actor, row.uses, row.success_rate, row.rolled_back_at]),
      [
        [0, null, 2, 1, null],
        [1, 'curator', 0, null, null],
        [2, 'curator', 0, null, '2026-05-02T10:00:00.000Z'],
      ],
    );
    const created = measureSkill({ ...asked([]), versions: [{ ...version(1), parent: undefined } as never] });
    assert.deepEqual(
      created.versions.map(({ verdict }) => verdict.verdict),
      ['first'],
    );
  });

  test('what is not known is not shown as a sum', () => {
    const cost = (fields: Partial<TurnCost>): TurnCost => ({ ...NO_TURN_COST, ...fields });
    const question = asked(
      [
        [2, 0],
        [2, 0],
        [2, 0],
        [2, 0],
      ],
      [
        [0, cost({ turns: 2, calls: 4, tokens: 300, cost: 0.5 })],
        [1, cost({ turns: 2, calls: 4, tokens: 300, unpriced: 4 })],
        [2, cost({ turns: 2, calls: 4, tokens: 301, cost: 0.001, unpriced: 1 })],
      ],
    );
    const measured = measureSkill(question);
    assert.deepEqual(
      measured.versions.map(({ cost: { usd_per_use, tokens_per_use, unpriced_calls } }) => [
        usd_per_use,
        tokens_per_use,
        unpriced_calls,
      ]),
      [
        [0.25, 150, 0],
        [null, 150, 4],
        [0.0005, 150.5, 1],
        [null, null, 0],
      ],
    );
    assert.deepEqual(
      measurementRows(measured).map((row) => [row[8], row[9], row[10]]),
      [
        ['0.2500', '150', '-'],
        ['unknown', '150', 'not enough uses (2 of 5)'],
        ['0.000500 + unknown', '151', 'not enough uses (2 of 5)'],
        ['-', '-', 'not enough uses (2 of 5)'],
      ],
    );
  });

  test('any counts give figures that add up', () => {
    const count = fc.tuple(fc.nat(60), fc.nat(60));
    fc.assert(
      fc.property(fc.array(count, { minLength: 1, maxLength: 6 }), (counts) => {
        for (const [at, row] of measureSkill(asked(counts)).versions.entries()) {
          assert.equal(row.uses, row.worked + row.failed);
          const { verdict, probability_worse: worse } = row.verdict;
          assert.equal(worse === null, verdict === 'first' || verdict === 'not-enough-uses');
          const small =
            at === 0 || [counts[at - 1], counts[at]].some((side) => (side?.[0] ?? 0) + (side?.[1] ?? 0) < 5);
          assert.equal(worse === null, small);
          assert.ok(worse === null || (worse >= 0 && worse <= 1));
        }
      }),
    );
  });
});
