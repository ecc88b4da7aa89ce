import assert from 'node:assert/strict';
import test from 'node:test';
import { askedOf, childResultId } from '#extensions/rlm/envelope/asked.ts';
import { readLenientInput, readStrictInput } from '#extensions/rlm/envelope/read-input.ts';
import { verifies } from '../../../verifies.ts';
import { input } from './envelope-samples.ts';

const codes = (read: ReturnType<typeof readStrictInput | typeof readLenientInput>) =>
  read.ok ? [] : read.problems.map(({ code, path }) => `${code} ${path}`);

verifies('rlm:envelope:input', 'a whole input passes unchanged', () => {
  assert.deepEqual(readStrictInput(input()), { ok: true, value: input() });
});

verifies('rlm:envelope:input', 'what is missing, foreign or contradictory in an input is named', () => {
  const whole = input();
  const cases: readonly (readonly [unknown, string])[] = [
    [null, 'not_an_object '],
    [[], 'not_an_object '],
    [{ ...whole, schema_version: 'rlm.hermes.input.v2' }, 'schema_version_mismatch schema_version'],
    [{ ...whole, mode: 'think' }, 'mode_not_allowed mode'],
    [{ ...whole, extra: 1 }, 'field_not_allowed extra'],
    [{ ...whole, run: { ...whole.run, secret: 1 } }, 'field_not_allowed run.secret'],
    [{ ...whole, run: { ...whole.run, ambiguity_threshold: 0.3 } }, 'out_of_range run.ambiguity_threshold'],
    [{ ...whole, objective: undefined }, 'missing_field objective'],
    [{ ...whole, call_context: { ...whole.call_context, depth: 'deep' } }, 'field_type call_context.depth'],
    [{ ...whole, rlm_node: { ...whole.rlm_node, depth: 1 } }, 'depth_mismatch rlm_node.depth'],
    [{ ...whole, trace: { ...whole.trace, call_id: 'x' } }, 'node_id_mismatch trace.call_id'],
    [{ ...whole, ac_node: { ...whole.ac_node, depth: 6 } }, 'out_of_range ac_node.depth'],
    [
      { ...whole, context: { ...whole.context, chunks: [...whole.context.chunks, ...whole.context.chunks] } },
      'duplicate_id context.chunks',
    ],
    [
      { ...whole, context: { ...whole.context, child_results: whole.context.child_results.toReversed() } },
      'child_order context.child_results',
    ],
  ];
  for (const [value, expected] of cases) assert.deepEqual(codes(readStrictInput(value)), [expected]);
});

test('a short input is read leniently, its children put in order', () => {
  const { schema_version, mode, call_context, rlm_node, ac_node, objective, context } = input();
  const short = {
    schema_version,
    mode,
    call_context,
    rlm_node,
    ac_node,
    objective,
    context: { child_results: context.child_results.toReversed() },
    more: 1,
  };
  assert.equal(readStrictInput(short).ok, false);
  const read = readLenientInput(short);
  assert.ok(read.ok);
  assert.deepEqual(
    read.value.context.child_results.map((child) => child.order),
    [0, 1],
  );
  assert.deepEqual([read.value.context.chunks, read.value.more], [[], 1]);
  assert.deepEqual(codes(readLenientInput({ ...short, objective: {} })), ['missing_field objective.instruction']);
  assert.deepEqual(codes(readLenientInput('x')), ['not_an_object ']);
});

test('what a reply may cite follows from the input', () => {
  assert.equal(childResultId('rlm_node_root', 7), 'rlm_node_root:child_result:007');
  assert.deepEqual(askedOf(input()), {
    mode: 'synthesize_parent',
    rlm_node_id: 'rlm_node_root',
    ac_node_id: 'rlm_ac_root',
    evidence_ids: ['a.txt:1-2', 'sum_1', 'a.txt:3-4'],
    child_result_ids: [0, 1].map((order) => childResultId('rlm_node_root', order)),
  });
});
