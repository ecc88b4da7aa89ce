import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { localMidnight } from '#base/clock.ts';
import { dateHints } from '#mind/sessions/search/date-hints.ts';

const at = (year: number, month: number, day: number) => localMidnight(year, month, day) + 10 * 3_600_000;
/** A Wednesday. */
const NOW = at(2026, 3, 18);

function fit(question: string, time: number): number {
  return Math.max(0, ...dateHints(question, NOW).map((hint) => hint.fit(time)));
}

describe('dates in a question', () => {
  test('a month fits any year, a named year only that one', () => {
    assert.equal(fit('what happened in July?', at(2023, 7, 9)), 1);
    assert.equal(fit('what happened in July?', at(2023, 8, 9)), 0);
    assert.equal(fit('in July 2022', at(2023, 7, 9)), 0);
    assert.ok(fit('in 2023', at(2023, 7, 9)) > 0);
    assert.equal(fit('in 2023', at(2022, 7, 9)), 0);
  });

  test('a whole day counts more than its month', () => {
    assert.ok(fit('on 9 July, 2023', at(2023, 7, 9)) > fit('on 9 July, 2023', at(2023, 7, 10)));
    assert.ok(fit('2023-07-09', at(2023, 7, 9)) > 1);
    assert.equal(fit('on Jul 9', at(2023, 7, 10)), 1);
  });

  test('may is a month only with a capital', () => {
    assert.equal(fit('what may she do', at(2026, 5, 5)), 0);
    assert.equal(fit('what did she do in May', at(2026, 5, 5)), 1);
  });

  test('words relative to now', () => {
    const inside: readonly (readonly [string, number])[] = [
      ['what did I say today', at(2026, 3, 18)],
      ['yesterday', at(2026, 3, 17)],
      ['last week', at(2026, 3, 10)],
      ['this week', at(2026, 3, 16)],
      ['last weekend', at(2026, 3, 14)],
      ['last month', at(2026, 2, 3)],
      ['last year', at(2025, 8, 3)],
      ['3 days ago', at(2026, 3, 15)],
      ['two weeks ago', at(2026, 3, 5)],
      ['a month ago', at(2026, 2, 20)],
      ['on Monday', at(2026, 3, 16)],
      ['lately', at(2026, 3, 10)],
    ];
    for (const [question, time] of inside) assert.equal(fit(question, time), 1, question);
    for (const [question] of inside) assert.equal(fit(question, at(2020, 1, 1)), 0, question);
    assert.equal(fit('yesterday', at(2026, 3, 18)), 0);
    assert.equal(fit('last week', at(2026, 3, 16)), 0);
  });

  test('a question without dates has no hint', () => {
    assert.deepEqual(dateHints('where is the key', NOW), []);
  });
});
