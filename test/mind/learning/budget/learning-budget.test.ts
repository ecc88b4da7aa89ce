// What learning may cost: share, floor, yield and the interval that follows from it.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  budgetState,
  DEFAULT_BUDGET,
  intervalFactor,
  learningYield,
  stretchIntervals,
} from '#mind/learning/budget/learning-budget.ts';
import { spentTokens } from '#mind/learning/budget/spent-tokens.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createMemorySessionStore } from '#testing/memory-session-store.ts';

const TEN = 10;
const none = (count: number) => Array.from({ length: count }, () => 0);

describe('learning budget', () => {
  test('a tenth of all other tokens of the last week, and 20K a day in any case', () => {
    assert.deepEqual(budgetState({ learning: 0, other: 0 }), {
      learning: 0,
      other: 0,
      allowed: 140_000,
      left: 140_000,
    });
    assert.equal(budgetState({ learning: 150_000, other: 3_000_000 }).left, 150_000);
    assert.equal(budgetState({ learning: 150_000, other: 0 }).left, 0);
    assert.equal(budgetState({ learning: 5, other: 100 }, { share: 0.5, floorPerDay: 0 }).left, 45);
  });

  test('learning never makes room for itself', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(), (learning, more, other) => {
        const before = budgetState({ learning, other }, DEFAULT_BUDGET).left;
        assert.ok(budgetState({ learning: learning + more, other }, DEFAULT_BUDGET).left <= before);
      }),
    );
  });

  test('yield is kept entries per review over the last ten', () => {
    assert.equal(learningYield(none(9)), undefined);
    assert.equal(learningYield([5, ...none(9), 1]), 0.1);
    assert.equal(learningYield([...none(TEN), ...Array.from({ length: TEN }, () => 2)]), 2);
  });

  test('under 0.2 the interval doubles up to 80, any kept entry resets it', () => {
    assert.equal(intervalFactor(none(9)), 1);
    assert.equal(intervalFactor(none(TEN)), 2);
    assert.equal(intervalFactor(none(12)), 8);
    assert.equal(intervalFactor([...none(12), 1]), 1);
    assert.equal(intervalFactor([...none(8), 1, 1, ...none(3)]), 1, '2 in ten is not under 0.2');
    assert.deepEqual(stretchIntervals({ memory: 10, skills: 0 }, 2), { memory: 20, skills: 0 });
    assert.deepEqual(stretchIntervals({ memory: 10, skills: 100 }, 64), { memory: 80, skills: 100 });
  });

  test('tokens are those of the last seven days, by purpose, without what a cache gave', async () => {
    const clock = createManualClock();
    const store = createMemorySessionStore(clock);
    const session = await store.create({ source: 'cli', cwd: '/' });
    const usage = { inputTokens: 1000, outputTokens: 50, cachedTokens: 900, cacheWriteTokens: 0, reasoningTokens: 0 };
    const span = (id: string, purpose: 'answer' | 'review', startedAt: number) =>
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
      span('c', 'review', now - 8 * 86_400_000),
    ]);
    assert.deepEqual(await spentTokens(store, now), { learning: 150, other: 150 });
  });
});
