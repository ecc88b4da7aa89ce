import { test } from 'node:test';
import { killAtRandom } from '../surfaces/acp/editor-stage.ts';

/** Two homes at once, for two cores. */
test('every session loads again after 200 kills', { timeout: 600_000 }, async (t) => {
  await Promise.all([4711, 4712].map((seed) => killAtRandom(t, 100, seed)));
});
