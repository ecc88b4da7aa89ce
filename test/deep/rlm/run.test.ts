/** Whatever the replies: many runs, and one with a thousand chunks. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { harbour, requestOver, run, scripted } from '../../extensions/rlm/run/run-ground.ts';
import { assertSupported, runSupports } from '../../property/rlm/run-properties.ts';

describe('many runs', () => {
  test('accept only what their chunks say, hold together, and are replayed equal', () => runSupports(2_000));

  test('a thousand chunks go up in groups within the depth', async () => {
    const limits = { max_depth: 5, max_iterations: 9_999, max_in_flight: 4, max_retries: 1 };
    const ground = requestOver(harbour(1_000), { limits });
    const { outcome } = await run(ground, { inner: scripted() });
    assert.equal(outcome.verdict, 'accepted');
    assert.equal(outcome.evidence.length, 1_000);
    assertSupported(outcome, ground);
  });
});
