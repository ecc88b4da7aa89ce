import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe } from 'node:test';
import { jitter } from '#base/ids.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { withFolder } from '../../mind/sessions/temp-store.ts';
import { many } from '../../property-runs.ts';
import { verifies } from '../../verifies.ts';
import { type Acknowledged, appendInProcess, assertNothingLost } from './appending.ts';

describe('processes that share a database', () => {
  verifies(
    ['core:session:durable', 'core:session:index-agrees'],
    'killed at random moments, no acknowledged message is missing and the index agrees',
    () =>
      withFolder(async (folder) => {
        const path = join(folder, 'state.db');
        const acknowledged: Acknowledged[] = [];
        for (let kill = 0; kill < many(24, 3); kill += 1) {
          const killAfterMs = jitter() * 60;
          const run = await appendInProcess({
            path,
            count: 100_000,
            name: `p${kill}`,
            writers: 1 + (kill % 3) * 4,
            killAfterMs,
          });
          assert.equal(run.exit, null);
          acknowledged.push(...run.acknowledged);
          await assertNothingLost(path, acknowledged);
        }
        assert.ok(acknowledged.length > 3);
      }),
  );

  verifies('core:session:many-writers', 'three processes append at once: none lost, none refused', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'state.db');
      const each = many(200, 60);
      const runs = await Promise.all(
        ['a', 'b', 'c'].map((name) => appendInProcess({ path, count: each, name, writers: 2 })),
      );
      assert.deepEqual(
        runs.map((run) => [run.exit, run.errors, run.acknowledged.length]),
        [
          [0, '', each],
          [0, '', each],
          [0, '', each],
        ],
      );
      await assertNothingLost(
        path,
        runs.flatMap((run) => run.acknowledged),
      );
      const store = createSqliteSessionStore({ path });
      const counts = (await store.list()).map((session) => session.messageCount);
      assert.deepEqual(counts, [each, each, each]);
      await store.close();
    }),
  );
});
