import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verifies } from '../../../verifies.ts';
import { treeFaults } from '../tree/tree-faults.ts';
import { harbour, requestOver, run, scripted } from './run-ground.ts';

const LIMITS = { max_depth: 5, max_iterations: 1_000, max_in_flight: 1, max_retries: 1 };

describe('the budget of a run', () => {
  verifies('rlm:run:max-calls', 'of calls leaves one for the synthesis; what was not asked is named', async () => {
    for (const max_in_flight of [1, 4]) {
      const inner = scripted();
      const request = { limits: { ...LIMITS, max_in_flight }, budget: { max_calls: 4 } };
      const { outcome } = await run(requestOver(harbour(6), request), { inner });
      assert.deepEqual(inner.requests.map(({ call_id }) => call_id).at(-1), 'rlm_call_atomic_synthesis');
      assert.equal(inner.requests.length, 4);
      assert.equal(outcome.totals.calls, 4);
      assert.equal(outcome.verdict, 'accepted');
      assert.equal(outcome.claims.length, 3);
      assert.deepEqual(
        outcome.gaps,
        ['7-8', '9-10', '11-12'].map((lines) => ({ what: `harbour.txt:${lines}`, why: 'not asked: budget_calls' })),
      );
      assert.deepEqual(treeFaults(outcome.tree), []);
    }
  });

  test('of calls holds over groups: every group with evidence can still be put together', async () => {
    for (const max_calls of [3, 5, 9, 14, 30]) {
      const inner = scripted();
      const { outcome } = await run(requestOver(harbour(40), { budget: { max_calls } }), { inner });
      assert.ok(inner.requests.length <= max_calls);
      assert.equal(outcome.verdict, 'accepted', `${max_calls}: ${outcome.detail}`);
      assert.ok(outcome.claims.length > (max_calls * 2) / 3 - 1);
      assert.equal(outcome.claims.length + outcome.gaps.length, 40);
      assert.deepEqual(treeFaults(outcome.tree), []);
    }
  });

  test('of one call reads one chunk, without a synthesis', async () => {
    const inner = scripted();
    const { outcome } = await run(requestOver(harbour(4), { budget: { max_calls: 1 } }), { inner });
    assert.equal(inner.requests.length, 1);
    assert.deepEqual([outcome.verdict, outcome.termination_reason], ['accepted', 'root_atomic_completed']);
    assert.equal(outcome.claims.length, 1);
    assert.equal(outcome.gaps.length, 3);
  });

  test('of calls that retries use up leaves the synthesis its call', async () => {
    const inner = scripted((call_id) => (call_id.startsWith('rlm_call_atomic_chunk_001') ? '{}' : undefined));
    const { outcome } = await run(requestOver(harbour(4), { budget: { max_calls: 5 } }), { inner });
    assert.equal(inner.requests.length, 5);
    assert.equal(inner.requests.at(-1)?.call_id, 'rlm_call_atomic_synthesis');
    assert.equal(outcome.claims.length, 3);
    assert.deepEqual(
      outcome.gaps.map(({ what }) => what),
      ['harbour.txt:1-2'],
    );
  });

  verifies('rlm:run:budget', 'of tokens or money ends the asking, never the run in the middle', async () => {
    for (const budget of [{ max_tokens: 8_000 }, { max_cost: 0.004 }]) {
      const inner = scripted();
      const { outcome } = await run(requestOver(harbour(40), { budget, max_output_tokens: 600 }), { inner });
      const { calls, cost, input_tokens } = outcome.totals;
      assert.ok(calls < 40);
      assert.ok((cost ?? 0) <= 0.006 && (input_tokens ?? 0) <= 8_000);
      assert.ok(outcome.gaps.some(({ why }) => why.startsWith('not asked: budget_')));
      assert.deepEqual(treeFaults(outcome.tree), []);
    }
  });

  test('of time that is over before the first call asks nobody', async () => {
    const inner = scripted();
    const { outcome } = await run(requestOver(harbour(3), { budget: { max_ms: 1e-9 } }), { inner });
    assert.equal(inner.requests.length, 0);
    assert.match(outcome.detail ?? '', /budget_time/);
  });
});

describe('splitting the question', () => {
  const split = (questions: unknown, verdict = 'decomposed') =>
    scripted((call_id) => {
      if (!call_id.startsWith('rlm_call_decompose_root')) return undefined;
      const result = { summary: '', sub_questions: questions as never };
      return JSON.stringify({
        mode: 'decompose_ac',
        verdict,
        confidence: 1,
        result,
        evidence_references: [],
        residual_gaps: [],
      });
    });

  test('asks each sub-question over all chunks, and puts all of it together', async () => {
    const inner = split(['How many ships were counted?', 'What did the gulls do?']);
    const { outcome } = await run(requestOver(harbour(3), { decompose: true }), { inner });
    assert.equal(outcome.verdict, 'accepted');
    assert.deepEqual(
      outcome.sub_questions?.map(({ question }) => question),
      ['How many ships were counted?', 'What did the gulls do?'],
    );
    // One to split, for each question three chunks and a synthesis, one over all.
    assert.equal(inner.requests.length, 10);
    assert.equal(outcome.evidence.length, 3);
    assert.equal(outcome.tree.nodes.rlm_node_decomposition?.state, 'decomposed');
    assert.ok(Object.values(outcome.tree.nodes).some(({ ac_node_id }) => /^ac_[0-9a-f]{12}$/.test(ac_node_id)));
    assert.deepEqual(treeFaults(outcome.tree), []);
  });

  for (const [name, questions, code] of [
    ['one sub-question', ['Only this?'], 'insufficient_children'],
    ['six', ['a?', 'b?', 'c?', 'd?', 'e?', 'f?'], 'too_many_children'],
    ['an empty one', ['a?', ' '], 'empty_child'],
    ['the question itself', ['a?', 'list every  fact about the HARBOUR with its id.'], 'cyclic_decomposition'],
    ['twice the same', ['How many?', ' how MANY? '], 'insufficient_children'],
    ['no list', 7, 'insufficient_children'],
  ] as const) {
    test(`into ${name} is refused as ${code}: it is asked as one, and the gap says so`, async () => {
      const inner = split(questions);
      const { outcome } = await run(requestOver(harbour(3), { decompose: true }), { inner });
      assert.equal(outcome.verdict, 'accepted');
      assert.equal(inner.requests.length, 6);
      assert.match(outcome.gaps[0]?.why ?? '', new RegExp(`it was asked as one \\(${code}`));
      assert.deepEqual(treeFaults(outcome.tree), []);
    });
  }

  test('that the reply calls atomic goes on at once', async () => {
    const inner = split([], 'atomic');
    const { outcome } = await run(requestOver(harbour(2), { decompose: true }), { inner });
    assert.equal(inner.requests.length, 4);
    assert.equal(outcome.verdict, 'accepted');
  });

  test('is not possible without depth, and the gap says so', async () => {
    const limits = { ...LIMITS, max_depth: 0 };
    const { outcome } = await run(requestOver(harbour(2), { decompose: true, limits }), {});
    assert.equal(outcome.verdict, 'accepted');
    assert.match(outcome.gaps[0]?.why ?? '', /max_depth_reached/);
  });
});
