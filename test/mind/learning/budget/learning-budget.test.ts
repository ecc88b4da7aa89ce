// What learning may cost: an hour and a day, how it rests after reviews that kept nothing, and what counts as spent.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  type BudgetRules,
  budgetState,
  intervalFactor,
  restsUntil,
  stretchIntervals,
} from '#mind/learning/budget/learning-budget.ts';
import { readBudget, tokensOfStep } from '#mind/learning/budget/spent-tokens.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createMemorySessionStore } from '#testing/memory-session-store.ts';
import { verifies } from '../../../verifies.ts';

const HOUR = 3_600_000;
const RULES: BudgetRules = { share: 0.1, floorPerDay: 100_000 };
const spent = (learning: number, other = 0) => ({ learning, other });
const reviews = (...kept: readonly number[]) => kept.map((count, at) => ({ kept: count, endedAt: at * HOUR }));
const none = (count: number) => reviews(...Array.from({ length: count }, () => 0));

describe('learning budget', () => {
  verifies(
    'core:learning:budget',
    'what is left is the smaller of what the hour and the day leave; limits that are set hold in any case',
    () => {
      const left = (hour: number, day: number, rules: Partial<BudgetRules> = {}, other = 0) =>
        budgetState(spent(hour), spent(day, other), { ...RULES, ...rules }).left;
      assert.equal(left(0, 0), 20_000, 'a fifth of the day, not all of it at once');
      assert.equal(left(5_000, 5_000), 15_000);
      assert.equal(left(0, 95_000), 5_000);
      assert.equal(left(30_000, 30_000), 0);
      assert.equal(left(0, 0, {}, 6_000_000), 120_000, 'a tenth of what else the day took');
      assert.equal(left(0, 0, { hour: 900 }, 6_000_000), 900);
      assert.equal(left(0, 0, { hour: 900, day: 700 }, 6_000_000), 700);
      assert.equal(left(0, 0, { day: 0 }), 0);
    },
  );

  test('learning never makes room for itself', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(), (learning, more, other) => {
        const left = (tokens: number) => budgetState(spent(tokens), spent(tokens, other), RULES).left;
        assert.ok(left(learning + more) <= left(learning));
      }),
    );
  });

  verifies(
    'core:learning:back-off',
    'from the third review in a row that kept nothing the intervals double, to 80 at most; a kept entry resets them',
    () => {
      assert.deepEqual(
        [0, 2, 3, 4, 5, 40].map((count) => intervalFactor(none(count))),
        [1, 1, 2, 4, 8, 80],
      );
      assert.equal(intervalFactor(reviews(0, 0, 0, 0, 1)), 1);
      assert.equal(intervalFactor(reviews(5, 0, 0)), 1);
      assert.equal(intervalFactor(reviews(5, 0, 0, 0)), 2);
      assert.deepEqual(stretchIntervals({ memory: 10, skills: 0 }, 2), { memory: 20, skills: 0 });
      assert.deepEqual(stretchIntervals({ memory: 10, skills: 100 }, 64), { memory: 80, skills: 100 });
      assert.equal(restsUntil(none(2)), 0);
      assert.equal(restsUntil(none(4)), 7 * HOUR, 'four hours behind the last one');
      assert.equal(restsUntil(none(30)), 37 * HOUR, 'eight at most');
    },
  );

  test('tokens are those of the hour and of the day, by purpose, without what a cache gave', async () => {
    const clock = createManualClock();
    const store = createMemorySessionStore(clock);
    const session = await store.create({ source: 'cli', cwd: '/' });
    const usage = { inputTokens: 1000, outputTokens: 50, cachedTokens: 900, cacheWriteTokens: 0, reasoningTokens: 0 };
    const span = (id: string, purpose: 'answer' | 'review' | 'judge', startedAt: number) =>
      ({
        id,
        sessionId: session.id,
        turn: 1,
        kind: 'step',
        name: 'm',
        ms: 1,
        status: 'ok',
        purpose,
        usage,
        cost: 0,
        startedAt,
      }) as const;
    const now = clock.now();
    await store.recordSpans([
      span('a', 'answer', now),
      span('b', 'review', now),
      span('c', 'judge', now - 2 * HOUR),
      span('d', 'review', now - 25 * HOUR),
    ]);
    const { hour, day } = await readBudget(store, now, RULES);
    assert.deepEqual([hour.learning, day.learning], [150, 300]);
    assert.equal(await tokensOfStep(store, session.id), 150, 'a step of the conversation');
    assert.equal(await tokensOfStep(store, (await store.create({ source: 'cli', cwd: '/' })).id), 0);
  });
});
