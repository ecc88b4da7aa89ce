import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type LastRun, PERIOD_MS, RETRY_MS, runDue } from '#extensions/curator/schedule/schedule-job.ts';

const MINUTE = 60_000;

describe('when a run is due', () => {
  test('at once when there was none, then once a period', () => {
    const periodMs = PERIOD_MS.daily;
    assert.equal(runDue(undefined, 5, periodMs), 'due');
    assert.equal(runDue({ at: 0, failed: false }, periodMs - 1, periodMs), 'waiting');
    assert.equal(runDue({ at: 0, failed: false }, periodMs, periodMs), 'due');
  });

  test('what failed is tried again soon, but not at once', () => {
    assert.equal(runDue({ at: 0, failed: true }, RETRY_MS - 1, PERIOD_MS.weekly), 'waiting');
    assert.equal(runDue({ at: 0, failed: true }, RETRY_MS, PERIOD_MS.weekly), 'due');
  });

  test('however the clock jumps, runs do not follow each other and never stop', () => {
    const jump = fc.record({ minutes: fc.integer({ min: 1, max: 200 }), days: fc.integer({ min: -2, max: 2 }) });
    fc.assert(
      fc.property(fc.array(jump, { maxLength: 60 }), (jumps) => {
        const life: Life = { now: 10 * PERIOD_MS.daily };
        wakeFor(life, 1);
        for (const { minutes, days } of jumps) {
          life.now += days * PERIOD_MS.daily;
          // A jump forward may bring one run early.
          assert.ok(wakeFor(life, minutes) <= 1 + Math.ceil(minutes / 60));
        }
        // A clock that was put back delays by one period at most.
        assert.ok(wakeFor(life, 61) >= 1);
      }),
    );
  });
});

interface Life {
  now: number;
  last?: LastRun;
}

/** Wakes once a minute, as the job does, an hour being the period; gives how often it ran. */
function wakeFor(life: Life, minutes: number): number {
  let ran = 0;
  for (let i = 0; i < minutes; i++, life.now += MINUTE) {
    const due = runDue(life.last, life.now, PERIOD_MS.hourly);
    if (due !== 'waiting') life.last = { at: life.now, failed: false };
    if (due === 'due') ran += 1;
  }
  return ran;
}
