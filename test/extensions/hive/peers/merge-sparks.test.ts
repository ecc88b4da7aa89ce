// What two processes keep about pairs becomes one list.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import fc from 'fast-check';
import type { Spark, SparkStatus } from '#extensions/hive/peers/peer.ts';
import { mergeSparks, pairKey } from '#extensions/hive/peers/sparks.ts';
import { sparkOf } from '../../../contract/hive/hive-transport-ground.ts';
import { runs } from '../../../property-runs.ts';
import { verifies } from '../../../verifies.ts';

describe('merging sparks', () => {
  const statuses: readonly SparkStatus[] = ['pending', 'dismissed', 'executed'];
  const spark = fc
    .record({
      a: fc.integer({ min: 0, max: 3 }),
      b: fc.integer({ min: 0, max: 3 }),
      status: fc.constantFrom(...statuses),
      id: fc.string({ maxLength: 2 }),
    })
    .map(({ a, b, status, id }): Spark => sparkOf(`p${a}@s`, `p${b}@s`, { status, id }));
  const sparks = fc.array(spark, { maxLength: 12 });
  const keyOf = ({ peer_a_id, peer_b_id }: Spark) => pairKey(peer_a_id, peer_b_id);

  verifies(['R4.28', 'R4.30'], 'nothing is lost, no pair is there twice, and no status goes back', () => {
    fc.assert(
      fc.property(sparks, sparks, (kept, changed) => {
        const merged = mergeSparks(kept, changed);
        assert.equal(new Set(merged.map(keyOf)).size, merged.length);
        for (const one of [...kept, ...changed]) {
          const found = merged.find((other) => keyOf(other) === keyOf(one));
          assert.ok(found && statuses.indexOf(found.status) >= statuses.indexOf(one.status));
        }
        assert.deepEqual(mergeSparks(merged, changed), merged);
        assert.deepEqual(mergeSparks(merged, kept), merged);
      }),
      { numRuns: runs(400) },
    );
  });
});
