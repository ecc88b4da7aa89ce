import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { jitter } from '#base/ids.ts';
import { type Acknowledged, appendInProcess, assertNothingLost } from '../fault/sessions/appending.ts';
import { withFolder, withStore } from '../mind/sessions/temp-store.ts';
import { anyQuestion, fillForQueries } from '../property/query-strings.ts';

describe('the session store, at length', () => {
  test('kill -9 at 200 random moments', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'state.db');
      let acknowledged: Acknowledged[] = [];
      for (let kill = 0; kill < 200; kill += 1) {
        const killAfterMs = jitter() * 120;
        const run = await appendInProcess({
          path,
          count: 100_000,
          name: `p${kill}`,
          writers: 1 + (kill % 3) * 4,
          killAfterMs,
        });
        acknowledged = [...acknowledged, ...run.acknowledged];
        if (kill % 10 === 9 || kill < 10) await assertNothingLost(path, acknowledged);
      }
      await assertNothingLost(path, acknowledged);
    }));

  test('three processes append 1,000 messages each', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'state.db');
      const runs = await Promise.all(['a', 'b', 'c'].map((name) => appendInProcess({ path, count: 1000, name })));
      assert.deepEqual(
        runs.map((run) => [run.exit, run.errors, run.acknowledged.length]),
        Array(3).fill([0, '', 1000]),
      );
      await assertNothingLost(
        path,
        runs.flatMap((run) => run.acknowledged),
      );
    }));

  test('100,000 strings are legal questions, in bounded time', () =>
    withStore(async (store) => {
      await fillForQueries(store);
      const ask = fc.asyncProperty(anyQuestion, async (question) => {
        const start = performance.now();
        assert.ok(Array.isArray(await store.search(question)));
        assert.ok(performance.now() - start < 5000);
      });
      await fc.assert(ask, { numRuns: 100_000 });
    }));
});
