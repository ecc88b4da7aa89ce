import assert from 'node:assert/strict';
import { killAtRandom } from '../surfaces/acp/editor-stage.ts';
import { verifies } from '../verifies.ts';

/** Two homes at once, for two cores. */
verifies(
  ['R5.81', 'R5.84', 'R5.85', 'R5.86'],
  'every session loads again after 200 kills, and was told all until then',
  {
    options: { timeout: 900_000 },
    run: async (t) => {
      for (const counts of await Promise.all([4711, 4712].map((seed) => killAtRandom(t, 100, seed)))) {
        t.diagnostic(JSON.stringify(counts));
        for (const [name, count] of Object.entries(counts)) assert.ok(count > 20, `${name}: ${count}`);
      }
    },
  },
);
