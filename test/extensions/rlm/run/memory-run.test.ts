import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MEMORY_KINDS, RECOMMENDATIONS } from '#extensions/rlm/memory/memory-record.ts';
import { type MemoryPrior, RECALLED_TASKS } from '#extensions/rlm/memory/priors.ts';
import { runLessons } from '#extensions/rlm/run/live-run.ts';
import type { RunMemory } from '#extensions/rlm/run/run-request.ts';
import { verifies } from '../../../verifies.ts';
import {
  childReply,
  harbour,
  honest,
  objectOf,
  parentReply,
  requestOver,
  run,
  scripted,
  shownFacts,
} from './run-ground.ts';

const PRIORS: readonly MemoryPrior[] = RECALLED_TASKS.flatMap((task) =>
  RECOMMENDATIONS.map((recommendation): MemoryPrior => {
    const [kind] = MEMORY_KINDS;
    return { kind, task, recommendation, family_id: null, fixture_category: null, confidence: 1 };
  }),
);

function remembering(mode: RunMemory['mode'], priors: readonly MemoryPrior[] = []): { readonly memory: RunMemory } {
  return { memory: { mode, priors, fixture_category: null } };
}

const LESSON = { family: 'default', created_at: '2026-01-01T00:00:00.000Z' };

describe('memory in a run', () => {
  test('enters prompts as its marked block, and only there', async () => {
    const inner = scripted();
    await run(requestOver(harbour(2), remembering('read', PRIORS)), { inner });
    for (const { prompt } of inner.requests)
      assert.match(prompt, /"outer_scaffold":\{[^}]*"memory_priors":\{"scope":"operational_policy_only"/);
    const without = scripted();
    await run(requestOver(harbour(2)), { inner: without });
    for (const { prompt } of without.requests) assert.doesNotMatch(prompt, /memory_priors/);
  });

  test('asks for missing fields again, and takes the reply all the same when they stay away', async () => {
    const bare = JSON.stringify(childReply([{ text: 'Gulls circled above pier 1 all day.' }]));
    const inner = scripted((call_id) => (call_id.includes('chunk_001') ? bare : undefined));
    const { outcome } = await run(requestOver(harbour(2), remembering('read', PRIORS)), { inner });
    const again = inner.requests.find(({ call_id }) => call_id === 'rlm_call_atomic_chunk_001_retry_1');
    assert.match(again?.prompt ?? '', /a fact has no fact_id/);
    assert.ok(outcome.evidence.some(({ text }) => text.startsWith('Gulls')));
  });

  test('is content with a reply in the form that was asked for, and asks again for one in a fence', async () => {
    const plain = scripted();
    await run(requestOver(harbour(2), remembering('read', PRIORS)), { inner: plain });
    assert.equal(plain.requests.length, 3);
    const fenced = scripted((_, prompt) => `\`\`\`json\n${honest(prompt)}\n\`\`\``);
    const { outcome } = await run(requestOver(harbour(2), remembering('read', PRIORS)), { inner: fenced });
    assert.equal(fenced.requests.length, 6);
    assert.equal(outcome.verdict, 'accepted');
  });

  verifies.slow(
    'rlm:memory:same-verdict',
    'changes what is asked again, never the verdict on the same replies',
    async () => {
      const replies: readonly (() => string | undefined)[] = [
        () => undefined,
        () => 'prose',
        () => JSON.stringify(parentReply([])),
        () =>
          JSON.stringify(parentReply([{ fact_id: 'HB-001', text: 'The harbour master counted 11 ships at pier 1.' }])),
        () => JSON.stringify({ result: { retained_facts: [] } }),
      ];
      for (const parent of replies) {
        for (const child of [
          ...replies,
          () => JSON.stringify(childReply([{ text: 'Gulls circled above pier 1 all day.' }])),
        ]) {
          const script = (call_id: string) => (call_id.includes('synthesis') ? parent() : child());
          const plain = await run(requestOver(harbour(2)), { inner: scripted(script) });
          const primed = await run(requestOver(harbour(2), remembering('read', PRIORS)), { inner: scripted(script) });
          const told = ({ outcome }: typeof plain) => [
            outcome.verdict,
            outcome.claims,
            outcome.evidence.map(({ text }) => text),
          ];
          assert.deepEqual(told(primed), told(plain));
        }
      }
    },
  );

  test('learns from what the guard said, only when its mode writes, and never from a vacuous pass', async () => {
    for (const mode of ['off', 'read', 'write', 'read-write'] as const) {
      const ground = requestOver(harbour(2), remembering(mode));
      const { outcome } = await run(ground);
      const kinds = runLessons(ground.request, outcome, LESSON).records.map(({ kind }) => kind);
      assert.deepEqual(kinds, mode.includes('write') ? ['provider_schema_stability'] : []);
    }
    const ground = requestOver(harbour(2), remembering('write'));
    const empty = await run(ground, { inner: scripted(() => JSON.stringify(childReply([]))) });
    assert.deepEqual(runLessons(ground.request, empty.outcome, LESSON).records, []);
    for (const reply of [undefined, JSON.stringify(childReply([]))]) {
      const alone = requestOver(harbour(1), remembering('write'));
      const { outcome } = await run(alone, { inner: scripted(() => reply) });
      assert.deepEqual(outcome.refused, []);
      assert.deepEqual(runLessons(alone.request, outcome, LESSON).records, []);
    }
    const bare = scripted((call_id, prompt) => {
      if (!call_id.includes('synthesis')) return undefined;
      const facts = shownFacts(objectOf(prompt.context)).map(({ evidence_chunk_id: _id, ...fact }) => fact);
      return JSON.stringify({ ...parentReply(facts), evidence_references: [] });
    });
    const repaired = await run(ground, { inner: bare });
    assert.deepEqual(
      runLessons(ground.request, repaired.outcome, LESSON).records.map(({ kind }) => kind),
      ['missing_evidence_handle_seen', 'repair_strategy_succeeded'],
    );
  });

  test('orders the families that are asked for the synthesis', async () => {
    const [one, two] = [scripted(undefined, 'one'), scripted(undefined, 'two')];
    const families = { children: ['one', 'two'], synthesis: ['two', 'one'] };
    await run(requestOver(harbour(2), { families }), { inner: [one, two] });
    assert.deepEqual(
      one.requests.map(({ call_id }) => call_id),
      ['rlm_call_atomic_chunk_001', 'rlm_call_atomic_chunk_002'],
    );
    assert.deepEqual(
      two.requests.map(({ call_id }) => call_id),
      ['rlm_call_atomic_synthesis'],
    );
  });
});
