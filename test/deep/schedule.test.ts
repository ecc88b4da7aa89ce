/** 10,000 random jobs, in a hundred homes, through time off, kills, a clock that jumps, and six processes that tick each home. */
import assert from 'node:assert/strict';
import { createTempHome } from '#testing/temp-home.ts';
import { live } from '../extensions/schedule/life.ts';
import { verifies } from '../verifies.ts';

verifies(
  ['R5.45', 'R5.46', 'R5.47'],
  'of 10,000 jobs every due time is in exactly one row, none ran twice, none is silent',
  {
    options: { timeout: 300_000 },
    run: async (t) => {
      let told = 0;
      for (let seed = 100; seed < 200; seed += 1)
        told += await live({ folder: createTempHome(t).path, seed, jobs: 100, steps: 8, off: 43_200_000 });
      assert.ok(told > 30_000, `${told} due times`);
    },
  },
);
