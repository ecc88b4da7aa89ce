import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseJsonObject } from '#base/json.ts';
import type { RunOutcome } from '#extensions/rlm/outcome.ts';
import { leavesOf, nodesOf, planChildren } from '#extensions/rlm/run/plan.ts';
import type { RequestChunk } from '#extensions/rlm/run/run-request.ts';
import { NODE_MOVES, type NodeState, RUN_MOVES, type RunState } from '#extensions/rlm/scaffold/run-tree.ts';
import { RUN_EVENT_TYPES } from '#extensions/rlm/trace/run-record.ts';
import { slow } from '../../../slow.ts';
import { verifies } from '../../../verifies.ts';
import { inputFaults } from '../envelope/read-input.ts';
import { treeFaults } from '../tree/tree-faults.ts';
import { harbour, listOf, objectOf, requestOver, run, scripted } from './run-ground.ts';

const LIMITS = { max_depth: 5, max_iterations: 1_000, max_in_flight: 1, max_retries: 1 };

describe('a scaffold run', () => {
  test('asks once for each of four chunks and once for the synthesis, and cites each claim', async () => {
    const inner = scripted();
    const { outcome } = await run(requestOver(harbour(4)), { inner });
    assert.deepEqual(
      inner.requests.map(({ call_id }) => call_id),
      [1, 2, 3, 4].map((at) => `rlm_call_atomic_chunk_00${at}`).concat('rlm_call_atomic_synthesis'),
    );
    assert.equal(outcome.verdict, 'accepted');
    assert.equal(outcome.termination_reason, 'parent_synthesis_completed');
    assert.deepEqual(
      outcome.claims.map(({ fact_ids }) => fact_ids),
      [['HB-001'], ['HB-002'], ['HB-003'], ['HB-004']],
    );
    assert.deepEqual(outcome.totals, { calls: 5, input_tokens: 500, output_tokens: 100, cost: 0.005 });
    assert.deepEqual(treeFaults(outcome.tree), []);
  });

  verifies('rlm:run:children-first', 'the parent is asked after its children, with the facts of each', async () => {
    const inner = scripted();
    await run(requestOver(harbour(3)), { inner });
    const last = inner.requests.at(-1);
    const prompt = parseJsonObject(last?.prompt ?? '');
    assert.ok(prompt.ok);
    const children = listOf(objectOf(prompt.value.context).child_results).map(objectOf);
    assert.deepEqual(
      children.map(({ chunk_id, order }) => [order, chunk_id]),
      [
        [0, 'harbour.txt:1-2'],
        [1, 'harbour.txt:3-4'],
        [2, 'harbour.txt:5-6'],
      ],
    );
    assert.match(last?.prompt ?? '', /counted 13 ships/);
  });

  test('sends only envelopes that pass the strict reading, with the schema first', async () => {
    const inner = scripted();
    await run(requestOver(harbour(14), { decompose: true }), { inner });
    for (const { prompt, call_id } of inner.requests) {
      assert.ok(prompt.startsWith('{"schema_version":"rlm.hermes.input.v1"'));
      const parsed = parseJsonObject(prompt);
      assert.ok(parsed.ok);
      assert.deepEqual(inputFaults(parsed.value), [], call_id);
    }
  });

  test('one chunk is one call; depth 0 sends all chunks in one call', async () => {
    for (const [count, max_depth] of [
      [1, 5],
      [4, 0],
    ] as const) {
      const inner = scripted();
      const { outcome } = await run(requestOver(harbour(count), { limits: { ...LIMITS, max_depth } }), { inner });
      assert.deepEqual(
        inner.requests.map(({ call_id }) => call_id),
        ['rlm_call_atomic_root'],
      );
      assert.equal(outcome.termination_reason, 'root_atomic_completed');
      assert.equal(outcome.verdict, 'accepted');
      assert.equal(outcome.claims.length, count);
    }
  });

  slow('hundreds of chunks go up in groups, each fact with its own chunk', async () => {
    const inner = scripted();
    const { outcome } = await run(requestOver(harbour(200), { facts_chars: 60_000, max_output_tokens: 40_000 }), {
      inner,
    });
    assert.equal(outcome.verdict, 'accepted');
    assert.equal(outcome.claims.length, 200);
    assert.ok(
      Object.values(outcome.tree.nodes).every(({ depth, children_ids }) => depth <= 5 && children_ids.length <= 6),
    );
    assert.deepEqual(treeFaults(outcome.tree), []);
  });

  test('facts that do not fit into a synthesis are counted in a gap, from each child alike', async () => {
    const { outcome } = await run(requestOver(harbour(6), { facts_chars: 600 }));
    assert.equal(outcome.verdict, 'accepted');
    assert.equal(outcome.claims.length, 3);
    assert.equal(outcome.gaps.filter(({ why }) => why.includes('did not fit')).length, 3);
  });

  test('a window of four asks the same and comes to the same as one by one', async () => {
    const outcomes: RunOutcome[] = [];
    for (const max_in_flight of [1, 4]) {
      const script = async (call_id: string) => {
        // Later calls answer first.
        for (let turn = 0; turn < 40 - Number(/\d+/.exec(call_id)?.[0] ?? 0); turn += 1) await Promise.resolve();
        return call_id.includes('_007') ? 'no JSON at all' : undefined;
      };
      const { outcome } = await run(requestOver(harbour(20), { limits: { ...LIMITS, max_in_flight } }), {
        inner: scripted(script),
      });
      outcomes.push({ ...outcome, tree: { ...outcome.tree, limits: { ...outcome.tree.limits, max_in_flight: 0 } } });
    }
    assert.deepEqual(outcomes[1], outcomes[0]);
    assert.equal(outcomes[0]?.gaps.length, 1);
  });

  test('a window never holds more calls than granted', async () => {
    let open = 0;
    let most = 0;
    const inner = scripted(async () => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return undefined;
    });
    await run(requestOver(harbour(30), { limits: { ...LIMITS, max_in_flight: 3 } }), { inner });
    assert.equal(most, 3);
  });

  verifies(
    'rlm:run:outer-owns',
    'every move is a listed one, recorded in order; the nine events stand at their places',
    async () => {
      const { store, run_id } = await run(requestOver(harbour(8)), {
        inner: scripted((call_id) => (call_id === 'rlm_call_atomic_chunk_002' ? '{"half": ' : undefined)),
      });
      const events = store.events(run_id);
      assert.deepEqual(new Set(events.map(({ type }) => type)), new Set(RUN_EVENT_TYPES));
      assert.equal(events[0]?.type, 'rlm.run.started');
      assert.equal(events.at(-1)?.type, 'rlm.run.finished');
      const states = new Map<string, string>();
      for (const move of events.flatMap(({ data }) => listOf(data.transitions)).map(objectOf)) {
        const { subject, from_state: from, to_state: to } = move;
        const subject_id = String(move.subject_id);
        const before = states.get(subject_id) ?? (subject === 'run' ? 'initialized' : 'queued');
        assert.equal(from, before);
        const allowed: readonly string[] =
          subject === 'run' ? RUN_MOVES[from as RunState] : NODE_MOVES[from as NodeState];
        assert.ok(allowed.includes(String(to)), `${String(from)} to ${String(to)}`);
        states.set(subject_id, String(to));
      }
      assert.equal(states.get('rlm_node_root'), 'synthesis_complete');
      assert.equal(states.get(run_id), 'completed');
    },
  );

  test('iterations that are used up fail the run, and what was not asked is named', async () => {
    for (const max_in_flight of [1, 3]) {
      const limits = { ...LIMITS, max_iterations: 3, max_in_flight };
      const { outcome } = await run(requestOver(harbour(5), { limits }));
      assert.equal(outcome.verdict, 'failed');
      assert.equal(outcome.termination_reason, 'max_iterations_reached');
      assert.equal(outcome.evidence.length, 2);
      assert.deepEqual(
        outcome.gaps.map(({ what }) => what),
        ['harbour.txt:5-6', 'harbour.txt:7-8', 'harbour.txt:9-10'],
      );
      assert.deepEqual(treeFaults(outcome.tree), []);
    }
  });

  test('a closed gate asks nobody', async () => {
    const inner = scripted();
    const prepared = requestOver(harbour(2));
    const ambiguity = { ...prepared.request.ambiguity, passed: false, ambiguity_score: 0.5, question: 'Which pier?' };
    const { outcome } = await run({ ...prepared, request: { ...prepared.request, ambiguity } }, { inner });
    assert.equal(inner.requests.length, 0);
    assert.deepEqual(
      [outcome.verdict, outcome.run_state, outcome.termination_reason, outcome.detail],
      ['refused', 'failed', 'guardrail_failed', 'Which pier?'],
    );
  });
});

describe('the plan of a run', () => {
  test('holds each chunk once, within depth and fan-out', () => {
    const { request } = requestOver(harbour(1));
    const [chunk] = request.chunks;
    assert.ok(chunk);
    for (const count of [1, 2, 6, 7, 36, 37, 216, 217, 1_000, 8_000]) {
      for (const max_depth of [1, 2, 3, 5]) {
        const chunks: readonly RequestChunk[] = Array.from({ length: count }, (_, at) => ({
          ...chunk,
          chunk_id: `c${at}`,
        }));
        const head = { id: 'r', ac_node_id: 'a', call_id: 'c', parent_id: null, depth: 0, order: 0 };
        const limits = { max_depth, fan_out: 6 };
        const children = planChildren({ ...head, question: 'q', prefix: '', first: 1 }, chunks, limits);
        const leaves = children.flatMap(leavesOf);
        assert.deepEqual(
          leaves.flatMap((leaf) => leaf.chunks.map(({ chunk_id }) => chunk_id)),
          chunks.map(({ chunk_id }) => chunk_id),
        );
        const nodes = children.flatMap(nodesOf);
        assert.equal(new Set(nodes.map(({ id }) => id)).size, nodes.length);
        assert.ok(leaves.every((leaf) => leaf.chunks.length === 1 && leaf.depth <= max_depth));
        const wide = Math.max(6, Math.ceil(count ** (1 / max_depth)) + 1);
        assert.ok(
          [children, ...nodes.map((node) => (node.kind === 'group' ? node.children : []))].every(
            (list) => list.length <= wide,
          ),
        );
      }
    }
  });
});
