import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compareRuns, type RunCall } from '../../../../bench/rlm/compare-runs.ts';
import { verifies } from '../../../verifies.ts';
import { completion, fixture } from './sample.ts';

const child = (chunk_id: string, success = true): RunCall => ({
  mode: 'execute_atomic',
  exit_code: success ? 0 : 1,
  success,
  chunk_id,
});
const parent = { mode: 'synthesize_parent', exit_code: 0, success: true, chunk_id: null };
const CALLS = [child('t.txt:1-1'), child('t.txt:2-2'), parent];

const compare = (vanilla: unknown, rlm: unknown, calls: readonly RunCall[] = CALLS) =>
  compareRuns({ fixture: fixture(), vanilla, rlm: { completion: rlm, calls } });

/** Nothing about the boundary: 0.90. */
const silent = () => ({ ...completion(), result: { retained_facts: completion().result.retained_facts } });

describe('comparison of runs', () => {
  verifies('rlm:score:comparison', 'the same completion below 1 gains by the trace: 0.90 and 0.92', () => {
    const compared = compare(silent(), silent());
    assert.deepEqual(
      [compared.vanilla_quality.score, compared.rlm_quality.score, compared.score_delta, compared.winner],
      [0.9, 0.92, 0.02, 'rlm'],
    );
    assert.equal(compared.rlm_quality.completion_quality_score, 0.9);
    assert.equal(compared.rlm_outperforms_vanilla, true);
  });

  verifies('rlm:score:comparison', 'a tie is called a tie', () => {
    const compared = compare(completion(), completion());
    assert.deepEqual([compared.score_delta, compared.winner, compared.rlm_outperforms_vanilla], [0, 'tie', false]);
  });

  test('half the chunks and no parent: coverage 0.5, and the single call wins', () => {
    const compared = compare(completion(), completion(), [
      child('t.txt:1-1'),
      child('t.txt:1-1'),
      child('t.txt:2-2', false),
    ]);
    const { rlm_quality: rlm } = compared;
    assert.deepEqual(
      [rlm.recursive_chunk_coverage_score, rlm.parent_synthesis_score, rlm.recursive_trace_score],
      [0.5, 0, 0.375],
    );
    assert.deepEqual(
      [rlm.successful_recursive_chunk_ids, rlm.missing_recursive_chunk_ids],
      [['t.txt:1-1'], ['t.txt:2-2']],
    );
    assert.deepEqual([rlm.score, compared.winner, compared.score_delta], [0.875, 'vanilla', -0.125]);
  });

  test('the parent counts when it is last, ended well and knew of all children', () => {
    const observed = (calls: readonly RunCall[]) => compare('', '', calls).rlm_quality.parent_synthesis_observed;
    assert.equal(observed(CALLS), true);
    assert.equal(observed([parent, ...CALLS.slice(0, 2)]), false);
    assert.equal(observed([...CALLS.slice(0, 2), { ...parent, exit_code: 1 }]), false);
    assert.equal(observed([...CALLS.slice(1)]), false);
    assert.equal(observed([{ ...parent, recorded_child_results: 2 }]), true);
    assert.equal(observed([...CALLS.slice(0, 2), { ...parent, recorded_child_results: 1 }]), false);
    assert.equal(observed([]), false);
  });

  test('no chunk selected is full coverage', () => {
    const { rlm_quality: rlm } = compareRuns({ fixture: {}, vanilla: {}, rlm: { completion: {}, calls: [parent] } });
    assert.deepEqual([rlm.recursive_chunk_coverage_score, rlm.recursive_trace_score], [1, 1]);
  });
});
