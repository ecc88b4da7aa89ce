/** A thousand heartbeats with nobody near. */
import assert from 'node:assert/strict';
import { createGolemStage, liveUnattended } from '../fleet/golem/stage.ts';
import { verifies } from '../verifies.ts';

for (const domain of ['sim', 'watch', 'coding'] as const)
  verifies(['R0.126'], `${domain}: no fault, no gap, no owner; what was learned leads to ticks`, async (t) => {
    assert.deepEqual(await liveUnattended(createGolemStage(t), domain, 1_000), []);
  });
