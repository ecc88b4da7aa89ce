import assert from 'node:assert/strict';
import test from 'node:test';
import { askedOf, childResultId } from '#extensions/rlm/scaffold/envelope.ts';
import { verifies } from '../../../verifies.ts';
import { input } from './envelope-samples.ts';
import { inputFaults } from './read-input.ts';

verifies(
  'rlm:envelope:input',
  'a whole input passes; what is missing, foreign or contradictory in one is named',
  () => {
    const whole = input();
    assert.deepEqual(inputFaults(whole), []);
    const cases: readonly (readonly [unknown, string])[] = [
      [null, ''],
      [[], ''],
      [{ ...whole, schema_version: 'rlm.hermes.input.v2' }, 'schema_version'],
      [{ ...whole, mode: 'think' }, 'mode'],
      [{ ...whole, extra: 1 }, 'extra'],
      [{ ...whole, run: { ...whole.run, secret: 1 } }, 'run.secret'],
      [{ ...whole, run: { ...whole.run, ambiguity_threshold: 0.3 } }, 'run.ambiguity_threshold'],
      [{ ...whole, objective: undefined }, 'objective'],
      [{ ...whole, call_context: { ...whole.call_context, depth: 'deep' } }, 'call_context.depth'],
      [{ ...whole, rlm_node: { ...whole.rlm_node, depth: 1 } }, 'rlm_node.depth'],
      [{ ...whole, trace: { ...whole.trace, call_id: 'x' } }, 'trace.call_id'],
      [{ ...whole, ac_node: { ...whole.ac_node, depth: 6 } }, 'ac_node.depth'],
      [
        { ...whole, context: { ...whole.context, chunks: [...whole.context.chunks, ...whole.context.chunks] } },
        'context.chunks',
      ],
      [
        { ...whole, context: { ...whole.context, child_results: whole.context.child_results.toReversed() } },
        'context.child_results',
      ],
    ];
    for (const [value, expected] of cases) assert.deepEqual(inputFaults(value), [expected]);
  },
);

test('what a reply may cite follows from the input', () => {
  assert.equal(childResultId('rlm_node_root', 7), 'rlm_node_root:child_result:007');
  assert.deepEqual(askedOf(input()), {
    mode: 'synthesize_parent',
    rlm_node_id: 'rlm_node_root',
    ac_node_id: 'rlm_ac_root',
    evidence_ids: ['a.txt:1-2', 'sum_1', 'a.txt:3-4'],
  });
});
