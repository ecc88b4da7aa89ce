/** A run over replies that are garbage, mutated or hostile; the properties stand in run-properties.ts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '#public/talaria.ts';
import { harbour, honest, requestOver, run, scripted } from '../../extensions/rlm/run/run-ground.ts';
import { many } from '../../property-runs.ts';
import { verifies } from '../../verifies.ts';
import { assertSupported, prepared, runSupports, shape, twisted } from './run-properties.ts';

describe('a run over any replies', () => {
  verifies(
    ['rlm:run:parent-gated', 'rlm:run:replay'],
    'accepts only what its chunks say, links hold, and the replay is equal',
    async () => {
      await runSupports(20);
    },
  );

  test('comes to the same whatever the budget of calls cuts: less evidence, never another claim', async () => {
    await fc.assert(
      fc.asyncProperty(shape, fc.integer({ min: 1, max: 12 }), async (asked, max_calls) => {
        const ground = prepared(asked);
        const request = { ...ground.request, budget: { max_calls } };
        const { outcome } = await run({ ...ground, request }, { inner: twisted(asked.twists) });
        assertSupported(outcome, ground);
        assert.ok(outcome.totals.calls <= max_calls);
        const said = new Set([
          ...outcome.gaps.map(({ what }) => what).flatMap((what) => what.split(', ')),
          ...outcome.evidence.map(({ chunk_id }) => chunk_id),
        ]);
        const asked_chunks = new Set(Object.keys(outcome.tree.nodes).map((id) => /atomic_chunk_(\d+)$/.exec(id)?.[1]));
        const named = (at: number) => asked_chunks.has(String(at + 1).padStart(3, '0')) || asked_chunks.has(undefined);
        assert.ok(outcome.selected_chunk_ids.every((id, at) => said.has(id) || named(at)));
      }),
      { numRuns: many(60, 20) },
    );
  });

  verifies('rlm:memory:not-evidence', 'holds nothing that only the request says', async () => {
    const poison = { fact_id: 'MEMORY-ANSWER-001', text: 'The harbour is closed.', evidence_chunk_id: 'memory://1' };
    const inner = scripted((_, prompt) => {
      const reply = JSON.parse(honest(prompt)) as { result: Record<string, JsonObject[]> };
      const [list = 'observed_facts'] = Object.keys(reply.result).filter((key) => key.endsWith('_facts'));
      reply.result[list]?.push(poison);
      return JSON.stringify(reply);
    });
    const ground = requestOver(harbour(3), {
      question: 'Is the harbour closed? MEMORY-ANSWER-001 The harbour is closed.',
    });
    const { outcome } = await run(ground, { inner });
    assert.equal(outcome.verdict, 'refused');
    assert.deepEqual(outcome.claims, []);
    assert.equal(outcome.evidence.length, 3);
  });
});
